// A pool of threads that run the chunks of one loop at a time. Which thread takes a chunk is free (an atomic
// counter), so nothing computed may depend on it. An object that is handed around, not a global.
#pragma once
#include <cstdint>
#include <memory>

namespace llmtool {

class ThreadPool {
 public:
  /// `threads` in all, the caller's included; at least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const noexcept;

  /// Calls body(chunk, worker) for every chunk in [0, chunks), worker in [0, size()); returns when all are
  /// done. The body must not throw (it is called from a noexcept context) and must not call back into this
  /// pool. With one chunk or one thread nothing is woken. A waiting worker spins for at most 20 microseconds.
  template <class Body>
  void parallel_for(std::int64_t chunks, const Body& body) {
    run(
        chunks,
        [](const void* b, std::int64_t chunk, int worker) noexcept {
          (*static_cast<const Body*>(b))(chunk, worker);
        },
        &body);
  }

 private:
  using Call = void (*)(const void* body, std::int64_t chunk, int worker) noexcept;
  void run(std::int64_t chunks, Call call, const void* body);
  struct State;
  std::unique_ptr<State> state_;
};

/// Cores this process may use: affinity and cgroup quota (v1 and v2) respected, at least 1.
int available_cores();

}  // namespace llmtool
