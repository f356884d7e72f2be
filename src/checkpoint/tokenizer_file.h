// Files that hold a tokenizer: tokenizer.json in Hugging Face's layout, for every type of tokenizer of ours,
// and, to be read only, the files of GPT-2 and of tiktoken.
#pragma once
#include <memory>
#include <string>

#include "base/files.h"
#include "text/tokenizer.h"

namespace llmtool {

/// The file's text; reading it back gives an equal tokenizer, and writing that again gives the same bytes.
std::string tokenizer_json(const Tokenizer& tokenizer);
/// Hostile until checked: world_error naming the file and what is wrong.
std::unique_ptr<Tokenizer> parse_tokenizer_json(const std::string& json, const std::string& origin);
/// vocab.json and merges.txt as GPT-2 has them, and its way of splitting. Entries of the vocabulary after
/// those that merges make are special tokens. Hostile until checked.
std::unique_ptr<Tokenizer> parse_gpt2_vocabulary(const std::string& vocab_json,
                                                 const std::string& vocab_origin,
                                                 const std::string& merges_txt,
                                                 const std::string& merges_origin);
/// A .tiktoken file: a line per token, its bytes in base64, a space and its id, ids from 0 on in order. Which
/// pair of tokens makes a token is recovered from the ids, so that the same ids come out. The file does not
/// say how text is split: gpt4 if that leaves every token whole, else gpt2. Special tokens are not in it.
/// Hostile until checked.
std::unique_ptr<Tokenizer> parse_tiktoken_ranks(const std::string& text, const std::string& origin);
/// A tokenizer.json, a .tiktoken file, GPT-2's vocab.json beside its merges.txt, or a folder that holds a
/// tokenizer.json (a model directory, a run: its best, else its latest checkpoint) or those two.
std::unique_ptr<Tokenizer> load_tokenizer(const Path& path);

}  // namespace llmtool
