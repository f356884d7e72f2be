// stdout, every failure noticed; see output.h.
#include "cli/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace llmtool {

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) throw ClosedPipe();
      throw world_error(cat("stdout: ", std::strerror(errno)), "free some space, or write elsewhere");
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void close_output() {
  // Only a regular file can still fail to keep what write() took.
  struct stat info;
  if (::fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode)) return;
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR)
    throw world_error(cat("stdout: ", std::strerror(errno)));
}

}  // namespace llmtool
