// Signal handlers that only set a flag.
#include "base/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/error.h"

namespace llmtool {
namespace {

std::atomic<int> signal_seen{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use lock-free atomics only");

extern "C" void on_signal(int number) {
  if (signal_seen.exchange(number) != 0) ::_exit(130);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a read that waits for input must notice
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action,
              nullptr);  // a file beyond the size limit is a failed write, not a silent death
}

bool interrupted() noexcept { return signal_seen.load(std::memory_order_relaxed) != 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Interrupted(signal_seen == SIGTERM ? "stopped by SIGTERM" : "stopped by Ctrl-C");
}

}  // namespace llmtool
