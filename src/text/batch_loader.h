// Prepares batches on a thread of its own, a bounded number ahead of their use. The batches are the same with
// the thread on or off: they are a function of their number. Not here: what is in a batch (sampler.h,
// eval_windows.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "text/batch.h"

namespace llmtool {

class BatchLoader {
 public:
  /// Makes batch `index`; called for one index at a time, in order.
  using Make = std::function<Batch(std::int64_t index)>;

  /// Gives the batches begin, begin + 1, .. end - 1. With background, at most `ahead` (at least 1) lie ready
  /// at a time. What `make` refers to must outlive the loader.
  BatchLoader(Make make, std::int64_t begin, std::int64_t end, bool background = true,
              std::int64_t ahead = 2);
  /// Stops the thread after the batch it is making.
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// The next batch in order; waits for it if need be. An exception of `make` is thrown here, at the batch it
  /// belongs to, and again at every later call. Not to be called more than end - begin times, nor from two
  /// threads.
  Batch next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace llmtool
