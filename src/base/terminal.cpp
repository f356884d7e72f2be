// Writes to stderr that keep a progress bar and printed lines from running into each other.
#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>

namespace llmtool {
namespace {

std::mutex mutex;
bool status_line_drawn = false;  // guarded by mutex
constexpr std::string_view wipe = "\r\x1b[K";

void write_all(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void write_stderr(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex);
  if (status_line_drawn) write_all(wipe);
  status_line_drawn = false;
  write_all(bytes);
}

void draw_status_line(std::string_view line) noexcept {
  const std::lock_guard lock(mutex);
  if (line.empty() && !status_line_drawn) return;
  write_all(wipe);
  write_all(line);
  status_line_drawn = !line.empty();
}

int terminal_width() noexcept {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace llmtool
