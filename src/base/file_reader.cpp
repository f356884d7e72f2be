// FileReader by POSIX calls.
#include "base/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/interrupt.h"

namespace llmtool {
namespace {

constexpr std::uint64_t max_of_device = std::uint64_t{16} << 20;

}  // namespace

FileReader::FileReader(const Path& path) : path_(path) {
  if (path == "-") {
    fd_ = STDIN_FILENO;
  } else {
    fd_ = open_retrying(path, O_RDONLY);
    if (fd_ < 0) throw file_failure("open", path_, errno);
  }
  struct stat info {};
  const int code = ::fstat(fd_, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
  if (code != 0) {
    if (path_ != "-") ::close(fd_);
    throw file_failure("read", path_, code);
  }
  regular_ = S_ISREG(info.st_mode);
  device_ = S_ISCHR(info.st_mode) && ::isatty(fd_) == 0;
  if (regular_) size_ = static_cast<std::uint64_t>(info.st_size);
}

FileReader::~FileReader() {
  if (path_ != "-") ::close(fd_);
}

std::size_t FileReader::read(std::string& out, std::size_t bytes) {
  const std::size_t before = out.size();
  out.resize(before + bytes);
  std::size_t used = 0;
  while (used < bytes) {
    const ssize_t n =
        ::read(fd_, out.data() + before + used, std::min<std::size_t>(bytes - used, std::size_t{1} << 30));
    if (n < 0 && errno != EINTR) {
      const int code = errno;
      out.resize(before + used);
      throw file_failure("read", path_, code);
    }
    if (n < 0 || !regular_) throw_if_interrupted();
    if (n < 0) continue;
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    given_ += static_cast<std::uint64_t>(n);
    if (device_ && given_ > max_of_device)
      throw world_error(cat("cannot read '", printable(path_.native()), "': it is larger than ",
                            max_of_device, " bytes (a device, perhaps without an end)"));
  }
  out.resize(before + used);
  return used;
}

}  // namespace llmtool
