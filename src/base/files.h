// Files: whole reads, mapped reads, and writes that a crash cannot leave half done. Errors are llmtool::Error
// naming the path and the reason. Paths are UTF-8. Not here: what is in the files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace llmtool {

using Path = std::filesystem::path;

/// The whole file; "-" is stdin. world_error if missing, a directory, unreadable, larger than max_bytes or
/// than the memory that is free, or a device that gives without an end.
std::string read_file(const Path& path, std::uint64_t max_bytes = ~std::uint64_t{0});

/// Writes beside the final name, flushes to disk, renames over it, flushes the directory. "-" is stdout.
void write_file_atomic(const Path& path, std::string_view bytes);

/// Puts `bytes` over those of an existing file from `offset` on and flushes to disk: for a header that is
/// known only at the end.
void overwrite_file(const Path& path, std::uint64_t offset, std::span<const std::byte> bytes);

/// A file mapped read-only; bytes() stays valid while the object lives. Empty files give an empty span.
class MappedFile {
 public:
  explicit MappedFile(const Path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const noexcept;
  std::string_view text() const noexcept;

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file being written once, front to back: write() any number of times, then close(), which flushes to
/// disk. Any failure (a full disk, too) is an Error naming the path.
class FileWriter {
 public:
  explicit FileWriter(const Path& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void close();

 private:
  Path path_;
  int fd_ = -1;
};

/// fsync of a directory, so that renames in it survive a power cut.
void sync_directory(const Path& dir);
/// Creates the directory and its parents; Error if something else is there or it cannot be written to
/// (a probe file is created and removed).
void make_writable_directory(const Path& dir);
/// Text that is safe to print: bytes that are not UTF-8 and control characters become \xNN escapes.
std::string printable(std::string_view bytes);
/// A path as messages name it: quoted and printable; "-" is standard input.
std::string shown(const Path& path);

}  // namespace llmtool
