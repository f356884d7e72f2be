// Reading the user's text: files, folders of files, stdin. Not here: the built-in corpus (builtin_corpus.h)
// and what becomes of the text (tokenizer.h, dataset.h). Text is bytes; nothing is decoded or changed.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_reader.h"

namespace llmtool {

/// The contents of all paths joined in order, nothing put between them. "-" is stdin. A folder stands for all
/// regular files in it and below, in byte order of their paths, except empty ones and those that hold a NUL
/// byte (not text). world_error naming the path: missing, not readable, an empty file, a folder without text.
std::string load_text(const std::vector<std::string>& paths);

/// The same bytes, block by block, for texts larger than memory.
class TextSource {
 public:
  /// What is missing, unreadable or empty is found here, and folders without text, before anything is read.
  explicit TextSource(std::vector<std::string> paths);

  /// Appends `bytes` more bytes to `out`; false, and fewer of them, only at the end of all texts. world_error
  /// where stdin or a file that was there at first turns out to hold nothing.
  bool read(std::string& out, std::size_t bytes);

  /// Bytes of all files together, where all are regular.
  std::optional<std::uint64_t> total() const noexcept { return total_; }
  std::uint64_t given() const noexcept { return given_; }

 private:
  std::vector<std::string> files_;
  std::size_t at_ = 0;  ///< The file that comes next.
  std::unique_ptr<FileReader> open_;
  std::uint64_t given_ = 0, given_before_ = 0;
  std::optional<std::uint64_t> total_ = 0;
};

}  // namespace llmtool
