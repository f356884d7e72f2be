// Notes and warnings, and what the terminal takes.
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/cat.h"
#include "base/files.h"
#include "base/terminal.h"

namespace llmtool {
namespace {

std::atomic<bool> quiet_flag{false};
std::atomic<bool> color_allowed{true};

bool smart_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

/// NO_COLOR counts when set to anything but the empty string (no-color.org).
bool color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return color_allowed && (no_color == nullptr || *no_color == '\0') && smart_terminal(fd);
}

}  // namespace

void set_quiet(bool quiet) noexcept { quiet_flag = quiet; }
bool quiet() noexcept { return quiet_flag; }

void note(std::string_view text) {
  if (!quiet()) write_stderr(cat("llmtool: ", printable(text), "\n"));
}

void warn(std::string_view text) { write_stderr(cat("llmtool: warning: ", printable(text), "\n")); }

bool stderr_is_terminal() { return smart_terminal(STDERR_FILENO); }
void set_color(bool allowed) noexcept { color_allowed = allowed; }
bool stderr_color() { return color(STDERR_FILENO); }
bool stdout_color() { return color(STDOUT_FILENO); }

}  // namespace llmtool
