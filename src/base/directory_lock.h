// One process at a time in a directory. Not here: what is guarded by it.
#pragma once
#include <filesystem>
#include <utility>

namespace llmtool {

/// Held by this process until it ends or the object goes, however it ends. Moves. (flock(2) on the directory
/// itself: no file is left behind.)
class DirectoryLock {
 public:
  DirectoryLock() = default;
  /// world_error where another process holds it, saying `purpose`: "is being written by another training".
  /// A file system that knows no locks is taken as it is.
  DirectoryLock(const std::filesystem::path& directory, const char* purpose);
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~DirectoryLock();

 private:
  int fd_ = -1;
};

}  // namespace llmtool
