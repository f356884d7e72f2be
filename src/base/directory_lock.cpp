// Locking a directory; see directory_lock.h.
#include "base/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace llmtool {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory, const char* purpose)
    : fd_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0 || ::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(std::exchange(fd_, -1));
  throw world_error(cat("'", directory.native(), "' ", purpose), "wait for it, or name another folder");
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace llmtool
