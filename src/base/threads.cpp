// The pool. A job is published as one atomic word: its number, whether it is open, and how many workers are
// in it. A worker that wakes late finds the job closed and sleeps on, so the caller never waits for a thread
// that took no part.
#include "base/threads.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

namespace llmtool {
namespace {

constexpr auto spin_limit = std::chrono::microseconds(20);
constexpr std::uint64_t joined_mask = 0x7FFF;
constexpr std::uint64_t open_bit = 0x8000;
constexpr int number_shift = 16;
constexpr int max_threads = 1024;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `ready()` or the limit; the last answer of ready().
template <class Ready>
bool spin_until(const Ready& ready) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + spin_limit;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

}  // namespace

struct ThreadPool::State {
  // Written by the caller while no worker is in a job, read by workers that joined one.
  Call call = nullptr;
  const void* body = nullptr;
  std::int64_t chunks = 0;

  alignas(64) std::atomic<std::int64_t> next{0};   // the next chunk to take
  alignas(64) std::atomic<std::uint64_t> word{0};  // number << 16 | open << 15 | workers in the job
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> caller_waits{false};
  std::mutex mutex;
  std::condition_variable work, done;
  std::mutex one_caller;  // loops of two threads follow each other
  std::vector<std::thread> threads;

  void take_chunks(int worker) noexcept {
    for (;;) {
      const std::int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) return;
      call(body, chunk, worker);
    }
  }

  bool job_for(std::uint64_t last) const noexcept {
    const std::uint64_t w = word.load();
    return (w & open_bit) != 0 && w >> number_shift != last;
  }

  void work_loop(int worker) {
    std::uint64_t last = 0;
    const auto ready = [&] { return stop.load() || job_for(last); };
    for (;;) {
      if (!spin_until(ready)) {
        std::unique_lock lock(mutex);
        ++sleepers;
        work.wait(lock, ready);
        --sleepers;
      }
      if (stop) return;
      std::uint64_t w = word.load();
      if ((w & open_bit) == 0 || w >> number_shift == last) continue;
      if (!word.compare_exchange_strong(w, w + 1)) continue;
      last = w >> number_shift;
      take_chunks(worker);
      const std::uint64_t left = word.fetch_sub(1) - 1;
      if ((left & (open_bit | joined_mask)) == 0 && caller_waits) {
        { const std::lock_guard lock(mutex); }
        done.notify_one();
      }
    }
  }

  void join_all() {
    stop = true;
    { const std::lock_guard lock(mutex); }
    work.notify_all();
    for (std::thread& t : threads) t.join();
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads < 1 || threads > max_threads) {
    throw request_error(cat("cannot use ", threads, " threads; expected 1 to ", max_threads));
  }
  State* state = state_.get();
  try {
    state->threads.reserve(static_cast<std::size_t>(threads - 1));
    for (int i = 1; i < threads; ++i) state->threads.emplace_back([state, i] { state->work_loop(i); });
  } catch (const std::system_error& e) {
    state->join_all();
    throw world_error(cat("cannot start ", threads, " threads: ", e.what()), "use a smaller --threads");
  }
}

ThreadPool::~ThreadPool() { state_->join_all(); }

int ThreadPool::size() const noexcept { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::run(std::int64_t chunks, Call call, const void* body) {
  if (chunks <= 0) return;
  State& s = *state_;
  if (chunks == 1 || s.threads.empty()) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) call(body, chunk, 0);
    return;
  }
  const std::lock_guard one_caller(s.one_caller);
  s.call = call;
  s.body = body;
  s.chunks = chunks;
  s.next.store(0, std::memory_order_relaxed);
  s.word.store(((s.word.load() >> number_shift) + 1) << number_shift | open_bit);
  if (const int sleepers = s.sleepers.load(); sleepers > 0) {
    // Passing through the lock: a worker that saw no job is then surely inside wait().
    { const std::lock_guard lock(s.mutex); }
    if (chunks > sleepers) {
      s.work.notify_all();
    } else {
      for (std::int64_t i = 1; i < chunks; ++i) s.work.notify_one();
    }
  }
  s.take_chunks(0);
  s.word.fetch_and(~open_bit);
  const auto empty = [&s] { return (s.word.load() & joined_mask) == 0; };
  if (!spin_until(empty)) {
    s.caller_waits = true;
    std::unique_lock lock(s.mutex);
    s.done.wait(lock, empty);
    s.caller_waits = false;
  }
}

}  // namespace llmtool
