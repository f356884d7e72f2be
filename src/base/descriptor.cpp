// See descriptor.h.
#include "base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/interrupt.h"

namespace llmtool {

Error file_failure(std::string_view what, const Path& path, int code) {
  return world_error(cat("cannot ", what, " ", shown(path), ": ", std::generic_category().message(code)));
}

int open_retrying(const Path& path, int flags, unsigned mode) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EINTR) return fd;
    throw_if_interrupted();
  }
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace llmtool
