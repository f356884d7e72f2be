// Log and progress through a pseudo-terminal and a pipe, each in a child process.
#include "base/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "base/log.h"
#include "support/catch.h"

using namespace llmtool;

namespace {

std::string read_to_end(int fd) {
  std::string out;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(n));
  return out;
}

/// What `body` writes to stderr when that is `fd` (closed here).
std::string output_of(int write_end, int read_end, const std::function<void()>& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(write_end, STDERR_FILENO);
    ::setenv("TERM", "xterm", 1);
    body();
    ::_exit(0);
  }
  ::close(write_end);
  std::string out = read_to_end(read_end);
  ::close(read_end);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  return out;
}

std::string through_pipe(const std::function<void()>& body) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  return output_of(ends[1], ends[0], body);
}

std::string through_terminal(int columns, const std::function<void()>& body) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return {};
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  if (slave < 0) return {};
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  ::ioctl(slave, TIOCSWINSZ, &size);
  return output_of(slave, master, body);
}

void work() {
  Progress bar("training", 100);
  bar.update(50, "loss 2.31");
  note("half way");
  bar.clear();
  bar.update(75, "loss 1.99");
}

}  // namespace

TEST_CASE("without a terminal there is no bar, and quiet silences notes only") {
  CHECK(through_pipe(work) == "llmtool: half way\n");
  CHECK(through_pipe([] {
          set_quiet(true);
          note("unheard");
          warn("heard");
        }) == "llmtool: warning: heard\n");
}

TEST_CASE("on a terminal the bar is drawn, wiped for notes and cut to the width") {
  const std::string wide = through_terminal(100, work);
  if (wide.empty()) return;  // no pseudo-terminals here
  CHECK(wide.find("training [===============>              ] 50% | loss 2.31") != std::string::npos);
  CHECK(wide.find("\r\x1b[Kllmtool: half way\r\n") != std::string::npos);
  CHECK(wide.find("75% | loss 1.99 | 0:00 left") != std::string::npos);
  CHECK(wide.substr(wide.size() - 4) == "\r\x1b[K");
  const std::string narrow = through_terminal(20, [] {
    Progress bar("training", 100);
    bar.update(50, "loss 2.31");
  });
  CHECK(narrow.find("training [] 50% | l") != std::string::npos);
  CHECK(narrow.find("training [] 50% | lo") == std::string::npos);
  CHECK(through_terminal(100, [] {
          set_quiet(true);
          work();
        }).empty());
}
