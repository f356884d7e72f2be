// Reading a file or standard input front to back, a block at a time. Not here: whole files and mapped ones
// (files.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"

namespace llmtool {

class FileReader {
 public:
  /// Opens the file; "-" is stdin. world_error if missing, a directory or unreadable.
  explicit FileReader(const Path& path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// Appends up to `bytes` more bytes to `out`, fewer only at the end; how many. world_error naming the path;
  /// also for a device that gives without an end (16 MiB are taken). Can be interrupted where the source is
  /// no regular file.
  std::size_t read(std::string& out, std::size_t bytes);

  /// Of a regular file.
  std::optional<std::uint64_t> size() const noexcept { return size_; }

 private:
  Path path_;
  int fd_ = -1;
  bool regular_ = false, device_ = false;
  std::uint64_t given_ = 0;
  std::optional<std::uint64_t> size_;
};

}  // namespace llmtool
