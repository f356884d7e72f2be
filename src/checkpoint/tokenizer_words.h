// From a vocabulary spelt in the byte alphabet and its merges to a BPE model: what tokenizer.json and GPT-2's
// two files have in common. Internal to tokenizer_file.h.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "text/bpe_model.h"

namespace llmtool {

/// How errors name the file and its two parts.
struct WordSource {
  std::string origin;
  std::string vocab;
  std::string merges;
};

/// world_error unless the value is a whole number from 0 to the largest id.
std::int64_t token_id_of(const Json& value, const std::string& origin, std::string_view where);

/// The words of a JSON object {word: id} by id; world_error unless every id from 0 on is there once.
std::vector<std::string> words_by_id(const Json& vocab, const std::string& origin, std::string_view where);

/// The byte order and the merges. The words must be the 256 bytes, then what each merge makes; more may
/// follow, which are not looked at. world_error naming the entry otherwise.
BpeModel model_of_words(const std::vector<std::string>& words,
                        const std::vector<std::pair<std::string, std::string>>& merges,
                        const WordSource& source);

}  // namespace llmtool
