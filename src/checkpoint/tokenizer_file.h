// tokenizer.json in Hugging Face's layout, for every type of tokenizer of ours. Not here: foreign formats.
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
/// A tokenizer.json, or a folder that holds one (a model directory, a run: its best, else its latest
/// checkpoint).
std::unique_ptr<Tokenizer> load_tokenizer(const Path& path);

}  // namespace llmtool
