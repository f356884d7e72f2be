// From a configuration and a text to a tokenizer. Not here: reading one from a file (a level above knows the
// formats).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/threads.h"
#include "text/text_config.h"
#include "text/tokenizer.h"

namespace llmtool {

/// What "auto" stands for: char for the built-in corpus, bpe for the user's own data. Other types are
/// themselves.
std::string resolved_tokenizer_type(const TokenizerConfig& config, bool builtin_text);

/// Makes the tokenizer a configuration asks for, learned from `text` (for "char": all of it, validation
/// included), on the threads of the pool: the same for any number of them. Not for type "file". Errors of
/// char_vocabulary_of() and train_bpe().
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerConfig& config, std::string_view text,
                                          bool builtin_text, ThreadPool& pool);

}  // namespace llmtool
