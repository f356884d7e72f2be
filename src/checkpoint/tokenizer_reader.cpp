// parse_tokenizer_json(): the layout of tokenizer_json() and nothing else, checked as hostile.
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "checkpoint/byte_alphabet.h"
#include "checkpoint/tokenizer_file.h"
#include "checkpoint/tokenizer_layout.h"
#include "formats/json.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"

namespace llmtool {
namespace {

namespace layout = tokenizer_layout;

class Reader {
 public:
  Reader(const std::string& text, const std::string& origin)
      : origin_(origin), root_(parse_json(text, origin, ErrorKind::world)) {}

  std::unique_ptr<Tokenizer> read() {
    if (!root_.is_object()) fail("", cat("expected an object, got ", json_excerpt(root_)));
    const Json& model = member(root_, "model", "model");
    if (!model.is_object()) fail("model", cat("expected an object, got ", json_excerpt(model)));
    const std::string type = string_member(model, "type", "model.type");
    expect_null(root_, "post_processor", "post_processor");
    if (type == "BPE") return byte_level(model);
    if (type == "WordLevel") return per_character(model);
    fail("model.type",
         cat("\"", printable(type.substr(0, 60)), "\" is not supported: expected BPE or WordLevel"));
  }

 private:
  [[noreturn]] void fail(std::string_view where, const std::string& what) const {
    throw world_error(where.empty() ? cat(origin_, ": ", what) : cat(origin_, ": ", where, ": ", what));
  }

  const Json& member(const Json& object, const char* key, std::string_view where) const {
    const auto at = object.find(key);
    if (at == object.end()) fail(where, "missing");
    return *at;
  }

  std::string string_member(const Json& object, const char* key, std::string_view where) const {
    const Json& value = member(object, key, where);
    if (!value.is_string()) fail(where, cat("expected a string, got ", json_excerpt(value)));
    return value.get<std::string>();
  }

  /// Absent counts as null.
  void expect_null(const Json& object, const char* key, std::string_view where) const {
    const auto at = object.find(key);
    if (at != object.end() && !at->is_null() &&
        !(at->is_string() && at->get_ref<const std::string&>().empty()))
      fail(where, cat("expected null, got ", json_excerpt(*at)));
  }
  void expect_false(const Json& object, const char* key, std::string_view where) const {
    const auto at = object.find(key);
    if (at != object.end() && *at != Json(false)) fail(where, cat("expected false, got ", json_excerpt(*at)));
  }

  bool is(const char* key, std::string_view expected) const {
    const auto at = root_.find(key);
    // Sorted objects: the order of keys within is not part of the meaning.
    return at != root_.end() && nlohmann::json(*at) == nlohmann::json::parse(expected);
  }

  std::int64_t id_of(const Json& value, std::string_view where) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() >= max_vocab_size)
      fail(where, cat("expected an id from 0 to ", max_vocab_size - 1, ", got ", json_excerpt(value)));
    return value.get<std::int64_t>();
  }

  /// The vocabulary by id; every id from 0 on must be there once.
  std::vector<std::string> vocabulary(const Json& model) const {
    const Json& vocab = member(model, "vocab", "model.vocab");
    if (!vocab.is_object()) fail("model.vocab", cat("expected an object, got ", json_excerpt(vocab)));
    std::vector<std::string> words(vocab.size());
    std::vector<bool> seen(vocab.size(), false);
    for (const auto& [word, value] : vocab.items()) {
      const std::int64_t id = id_of(value, "model.vocab");
      if (std::cmp_greater_equal(id, words.size()))
        fail("model.vocab", cat("id ", id, " in a vocabulary of ", words.size(),
                                " entries: ids must be 0 to ", words.size() - 1));
      const auto i = static_cast<std::size_t>(id);
      if (seen[i]) fail("model.vocab", cat("id ", id, " is given twice"));
      seen[i] = true;
      words[i] = word;
    }
    return words;
  }

  std::unique_ptr<Tokenizer> per_character(const Json& model) const {
    if (!is("pre_tokenizer", layout::per_character))
      fail("pre_tokenizer", "expected a split at every character");
    expect_no_added();
    std::vector<std::string> words = vocabulary(model);
    if (is("normalizer", layout::ascii_only)) {
      if (words.size() != 128) fail("model.vocab", cat(words.size(), " entries where ASCII has 128"));
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != std::string(1, static_cast<char>(i)))
          fail("model.vocab", cat("id ", i, " is not the character of that code"));
      }
      return std::make_unique<AsciiTokenizer>();
    }
    expect_null(root_, "normalizer", "normalizer");
    return std::make_unique<CharTokenizer>(CharVocabulary{std::move(words)});
  }

  std::unique_ptr<Tokenizer> byte_level(const Json& model) const {
    if (!is("pre_tokenizer", layout::byte_level)) {
      fail("pre_tokenizer",
           "expected byte level without a prefix space and without splitting, the only one of this build");
    }
    expect_null(root_, "normalizer", "normalizer");
    for (const char* key : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"})
      expect_null(model, key, cat("model.", key));
    for (const char* key : {"fuse_unk", "byte_fallback"}) expect_false(model, key, cat("model.", key));

    const std::vector<std::string> words = vocabulary(model);
    BpeModel bpe;
    bpe.merges = merges(model, words);
    bpe.specials = specials(words.size());
    const auto ignore = model.find("ignore_merges");
    if (ignore != model.end() && *ignore == Json(true)) {
      if (!bpe.merges.empty() || !bpe.specials.empty())
        fail("model.ignore_merges", "expected false where there are merges or added tokens");
      return std::make_unique<ByteTokenizer>();
    }
    if (ignore != model.end()) expect_false(model, "ignore_merges", "model.ignore_merges");
    return std::make_unique<BpeTokenizer>(std::move(bpe));
  }

  /// The merges as pairs of ids; the vocabulary must be the bytes in order, then what each merge makes.
  std::vector<std::pair<std::int32_t, std::int32_t>> merges(const Json& model,
                                                            const std::vector<std::string>& words) const {
    const Json& list = member(model, "merges", "model.merges");
    if (!list.is_array()) fail("model.merges", cat("expected a list, got ", json_excerpt(list)));
    if (words.size() != 256 + list.size()) {
      fail("model.vocab", cat(words.size(), " entries where 256 bytes and ", list.size(), " merges make ",
                              256 + list.size()));
    }
    std::unordered_map<std::string_view, std::int32_t> ids;
    for (std::size_t i = 0; i < words.size(); ++i) {
      ids.emplace(words[i], static_cast<std::int32_t>(i));
      if (i < 256 &&
          words[i] != to_byte_alphabet(std::string(1, static_cast<char>(static_cast<unsigned char>(i)))))
        fail("model.vocab", cat("id ", i, " is not byte ", i, ": expected the 256 bytes in order first"));
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    pairs.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto where = [i] { return cat("model.merges[", i, "]"); };
      const auto [left, right] = halves(list[i], where());
      const auto a = ids.find(left), b = ids.find(right);
      if (a == ids.end() || b == ids.end()) fail(where(), "a part is not in the vocabulary");
      if (words[256 + i] != left + right) fail(where(), cat("does not make the token of id ", 256 + i));
      pairs.emplace_back(a->second, b->second);
    }
    return pairs;
  }

  /// "a b" or ["a", "b"]: both are in use.
  std::pair<std::string, std::string> halves(const Json& entry, const std::string& where) const {
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string())
      return {entry[0].get<std::string>(), entry[1].get<std::string>()};
    if (entry.is_string()) {
      const std::string& text = entry.get_ref<const std::string&>();
      const auto space = text.find(' ');
      if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
        return {text.substr(0, space), text.substr(space + 1)};
    }
    fail(where, cat("expected two tokens, got ", json_excerpt(entry)));
  }

  /// The added tokens, whose ids must follow those of the vocabulary.
  std::vector<std::string> specials(std::size_t first_id) const {
    std::vector<std::string> out;
    const auto added = root_.find("added_tokens");
    if (added == root_.end() || added->is_null()) return out;
    if (!added->is_array()) fail("added_tokens", cat("expected a list, got ", json_excerpt(*added)));
    for (const Json& entry : *added) {
      const std::string where = cat("added_tokens[", out.size(), "]");
      if (!entry.is_object()) fail(where, cat("expected an object, got ", json_excerpt(entry)));
      const std::int64_t id = id_of(member(entry, "id", cat(where, ".id")), cat(where, ".id"));
      if (std::cmp_not_equal(id, first_id + out.size()))
        fail(cat(where, ".id"), cat("expected ", first_id + out.size(), ", got ", id));
      out.push_back(string_member(entry, "content", cat(where, ".content")));
    }
    return out;
  }
  void expect_no_added() const {
    const auto added = root_.find("added_tokens");
    if (added != root_.end() && !added->is_null() && *added != Json::array())
      fail("added_tokens", "expected an empty list");
  }

  const std::string& origin_;
  Json root_;
};

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer_json(const std::string& json, const std::string& origin) {
  Reader reader(json, origin);
  try {
    return reader.read();
  } catch (const Error& error) {
    // The checks of text know no file; the reader's own errors open with it already.
    const std::string what = error.what();
    if (what.rfind(origin, 0) == 0) throw;
    throw world_error(cat(origin, ": ", what), error.hint());
  }
}

}  // namespace llmtool
