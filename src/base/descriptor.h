// What the files of this folder that call POSIX share: a descriptor that closes itself, opening through
// signals, and the error that names a path. Internal to base. Not here: reading and writing.
#pragma once
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace llmtool {

/// "cannot open 'path': No such file or directory"; "-" is called standard input.
Error file_failure(std::string_view what, const Path& path, int code);

/// open(2), close-on-exec and again after a signal that asks for no stop; -1 with errno on failure.
int open_retrying(const Path& path, int flags, unsigned mode = 0);

/// Closes a descriptor on every way out; release() hands it over.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace llmtool
