// CharTokenizer: collecting the vocabulary, checking one, and encoding with it.
#include "text/char_tokenizer.h"

#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "text/fingerprint.h"

namespace llmtool {
namespace {

/// "'x' (U+0078)", the character itself escaped where it is not printable.
std::string describe(std::string_view bytes, char32_t value) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string hex;
  for (int shift = 20; shift >= 0; shift -= 4) {
    const auto digit = static_cast<unsigned>(value >> shift) & 15u;
    if (shift < 16 || digit != 0 || !hex.empty()) hex += digits[digit];
  }
  return cat("'", printable(bytes), "' (U+", hex, ")");
}

}  // namespace

CharVocabulary char_vocabulary_of(std::string_view text) {
  if (text.empty()) throw world_error("[char] the text to take a vocabulary from is empty");
  CharVocabulary vocabulary;
  std::unordered_set<char32_t> seen;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint unit = decode_utf8(text, at);
    if (unit.length == 0) {
      throw world_error(cat("[char] the text is not UTF-8: byte ", printable(text.substr(at, 1)),
                            " at offset ", at, " begins no character"),
                        "use tokenizer.type bytes or bpe, which take any bytes");
    }
    if (seen.insert(unit.value).second)
      vocabulary.characters.emplace_back(text.substr(at, static_cast<std::size_t>(unit.length)));
    at += static_cast<std::size_t>(unit.length);
  }
  return vocabulary;
}

CharTokenizer::CharTokenizer(CharVocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  ascii_.fill(-1);
  const auto& characters = vocabulary_.characters;
  if (characters.empty()) throw world_error("[char] the vocabulary is empty");
  if (std::cmp_greater(characters.size(), max_vocab_size)) {
    throw world_error(cat("[char] the vocabulary has ", characters.size(), " entries, at most ",
                          max_vocab_size, " are possible"));
  }
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const std::string& entry = characters[i];
    const auto id = static_cast<std::int32_t>(i);
    const CodePoint unit = decode_utf8(entry);
    if (unit.length == 0 || std::cmp_not_equal(unit.length, entry.size())) {
      throw world_error(cat("[char] entry ", i, " of the vocabulary, '",
                            printable(std::string_view(entry).substr(0, 40)),
                            "', is not one UTF-8 character"));
    }
    if (id_of(unit.value) >= 0) {
      throw world_error(cat("[char] ", describe(entry, unit.value), " is in the vocabulary twice, as ids ",
                            id_of(unit.value), " and ", i));
    }
    if (unit.value < 128) {
      ascii_[unit.value] = id;
    } else {
      others_.emplace(unit.value, id);
    }
  }
}

std::int64_t CharTokenizer::vocab_size() const noexcept {
  return static_cast<std::int64_t>(vocabulary_.characters.size());
}

std::int32_t CharTokenizer::id_of(char32_t character) const noexcept {
  if (character < 128) return ascii_[character];
  const auto found = others_.find(character);
  return found == others_.end() ? -1 : found->second;
}

std::vector<std::int32_t> CharTokenizer::encode(std::string_view text) const {
  const char* hint = "use characters of the training text only, or train with tokenizer.type bpe or bytes";
  std::vector<std::int32_t> ids;
  ids.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint unit = decode_utf8(text, at);
    if (unit.length == 0) {
      throw request_error(cat("[char] byte ", printable(text.substr(at, 1)), " at position ", ids.size(),
                              " of the text is not UTF-8, and a character vocabulary has characters only"),
                          hint);
    }
    const std::int32_t id = id_of(unit.value);
    if (id < 0) {
      throw request_error(
          cat("[char] character ",
              describe(text.substr(at, static_cast<std::size_t>(unit.length)), unit.value), " at position ",
              ids.size(), " of the text is not among the ", vocab_size(), " characters of the vocabulary"),
          hint);
    }
    ids.push_back(id);
    at += static_cast<std::size_t>(unit.length);
  }
  return ids;
}

std::size_t CharTokenizer::last_cut(std::string_view text) const noexcept {
  return complete_utf8_prefix(text);
}

void CharTokenizer::append_token(std::int32_t id, std::string& out) const {
  out += vocabulary_.characters[static_cast<std::size_t>(id)];
}

std::uint64_t CharTokenizer::fingerprint() const {
  Fingerprint f;
  f.add(type());
  for (const std::string& c : vocabulary_.characters) f.add(c);
  return f.value();
}

}  // namespace llmtool
