// Reading the user's text: files, folders of files, stdin. Not here: the built-in corpus (builtin_corpus.h)
// and what becomes of the text (tokenizer.h, dataset.h). Text is bytes; nothing is decoded or changed.
#pragma once
#include <string>
#include <vector>

namespace llmtool {

/// The contents of all paths joined in order, nothing put between them. "-" is stdin. A folder stands for all
/// regular files in it and below, in byte order of their paths, except empty ones and those that hold a NUL
/// byte (not text). world_error naming the path: missing, not readable, an empty file, a folder without text.
std::string load_text(const std::vector<std::string>& paths);

}  // namespace llmtool
