// BatchLoader: one thread, one bounded queue.
#include "text/batch_loader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"

namespace llmtool {

struct BatchLoader::State {
  Make make;
  std::int64_t given;  ///< The index that next() returns next.
  std::int64_t end;
  bool background;
  std::size_t ahead;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> ready;
  std::exception_ptr failure;  ///< Of the batch after those in `ready`.
  bool stop = false;
  std::thread thread;  ///< Last, so that all it uses exists before it and longer.

  void work(std::int64_t begin) noexcept {
    for (std::int64_t index = begin; index < end; ++index) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || ready.size() < ahead; });
        if (stop) return;
      }
      try {
        Batch batch = make(index);
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(batch));
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      changed.notify_all();
      if (failure) return;  // only this thread writes it
    }
  }
};

BatchLoader::BatchLoader(Make make, std::int64_t begin, std::int64_t end, bool background, std::int64_t ahead)
    : state_(std::make_unique<State>()) {
  LLMTOOL_CHECK(ahead >= 1 && begin <= end, "ahead ", ahead, " begin ", begin, " end ", end);
  state_->make = std::move(make);
  state_->given = begin;
  state_->end = end;
  state_->background = background;
  state_->ahead = static_cast<std::size_t>(ahead);
  if (background && begin < end)
    state_->thread = std::thread([state = state_.get(), begin] { state->work(begin); });
}

BatchLoader::~BatchLoader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

Batch BatchLoader::next() {
  State& s = *state_;
  LLMTOOL_CHECK(s.given < s.end, "batch ", s.given, " of ", s.end);
  if (!s.background) {
    Batch batch = s.make(s.given);
    ++s.given;
    return batch;
  }
  Batch batch;
  {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return !s.ready.empty() || s.failure; });
    if (s.ready.empty()) std::rethrow_exception(s.failure);
    batch = std::move(s.ready.front());
    s.ready.pop_front();
  }
  s.changed.notify_all();
  ++s.given;
  return batch;
}

}  // namespace llmtool
