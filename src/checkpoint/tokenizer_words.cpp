// The checks that tie words, ids and merges to each other.
#include "checkpoint/tokenizer_words.h"

#include <unordered_map>

#include "base/error.h"
#include "checkpoint/byte_alphabet.h"
#include "text/tokenizer.h"

namespace llmtool {
namespace {

[[noreturn]] void fail(const std::string& origin, std::string_view where, const std::string& what) {
  throw world_error(cat(origin, ": ", where, ": ", what));
}

}  // namespace

std::int64_t token_id_of(const Json& value, const std::string& origin, std::string_view where) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
      value.get<std::int64_t>() >= max_vocab_size)
    fail(origin, where, cat("expected an id from 0 to ", max_vocab_size - 1, ", got ", json_excerpt(value)));
  return value.get<std::int64_t>();
}

std::vector<std::string> words_by_id(const Json& vocab, const std::string& origin, std::string_view where) {
  if (!vocab.is_object()) fail(origin, where, cat("expected an object, got ", json_excerpt(vocab)));
  std::vector<std::string> words(vocab.size());
  std::vector<bool> seen(vocab.size(), false);
  for (const auto& [word, value] : vocab.items()) {
    const std::int64_t id = token_id_of(value, origin, where);
    if (std::cmp_greater_equal(id, words.size()))
      fail(origin, where,
           cat("id ", id, " in a vocabulary of ", words.size(), " entries: ids must be 0 to ",
               words.size() - 1));
    const auto i = static_cast<std::size_t>(id);
    if (seen[i]) fail(origin, where, cat("id ", id, " is given twice"));
    seen[i] = true;
    words[i] = word;
  }
  return words;
}

BpeModel model_of_words(const std::vector<std::string>& words,
                        const std::vector<std::pair<std::string, std::string>>& merges,
                        const WordSource& source) {
  if (words.size() < 256 + merges.size()) {
    fail(source.origin, source.vocab,
         cat(words.size(), " entries where 256 bytes and ", merges.size(), " merges make ",
             256 + merges.size()));
  }
  BpeModel model;
  std::unordered_map<std::string_view, std::int32_t> ids;
  for (std::size_t i = 0; i < 256 + merges.size(); ++i) {
    ids.emplace(words[i], static_cast<std::int32_t>(i));
    if (i >= 256) continue;
    const auto byte = from_byte_alphabet(words[i]);
    if (!byte || byte->size() != 1)
      fail(source.origin, source.vocab, cat("id ", i, " is not a byte: expected the 256 bytes first"));
    model.byte_order += *byte;
  }
  model.merges.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    const auto where = [&] { return cat(source.merges, "[", i, "]"); };
    const auto a = ids.find(left), b = ids.find(right);
    if (a == ids.end() || b == ids.end()) fail(source.origin, where(), "a part is not in the vocabulary");
    if (words[256 + i] != left + right)
      fail(source.origin, where(), cat("does not make the token of id ", 256 + i));
    model.merges.emplace_back(a->second, b->second);
  }
  return model;
}

}  // namespace llmtool
