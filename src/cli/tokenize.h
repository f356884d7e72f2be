// What the files of `llmtool tokenize` share. Not here: the tokenizers (text) and their files (checkpoint).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace CLI {
class App;
}

namespace llmtool {

/// The one named; else that of the default run; else the demo's 400 tokens.
std::unique_ptr<Tokenizer> chosen_tokenizer(const std::string& named);
/// --tokenizer
void add_tokenizer_flag(CLI::App& command, std::string& named);

/// request_error if one of the inputs is a shard or a folder of shards, whose tokenizer.json would pass for
/// text.
void require_texts(const std::vector<std::string>& inputs);

void add_tokenize_train(CLI::App& tokenize);
void add_tokenize_pack(CLI::App& tokenize);

}  // namespace llmtool
