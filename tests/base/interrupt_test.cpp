// Signals, each in a child process of its own since the flag is never lowered.
#include "base/interrupt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "support/catch.h"

using namespace llmtool;

namespace {

/// The exit status of a child that runs `body` and leaves with what it returns.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    install_signal_handlers();
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a signal raises the flag and is thrown at the next safe point") {
  CHECK(in_child([] {
          if (interrupted()) return 1;
          throw_if_interrupted();
          ::raise(SIGTERM);
          if (!interrupted()) return 2;
          try {
            throw_if_interrupted();
          } catch (const Interrupted&) {
            return 7;
          }
          return 3;
        }) == 7);
}

TEST_CASE("the second signal ends the process with 130") {
  CHECK(in_child([] {
          ::raise(SIGINT);
          ::raise(SIGINT);
          return 1;
        }) == 130);
}

TEST_CASE("a closed pipe does not kill the process") {
  CHECK(in_child([] { return ::raise(SIGPIPE) == 0 ? 9 : 1; }) == 9);
}
