// Which windows of the training part a step uses. Without state: a window is a function of (seed, step,
// sample), so a resumed run, another number of micro-batches or a background thread sees the same ones. Not
// here: held-out windows (eval_windows.h).
#pragma once
#include <cstdint>
#include <string_view>

#include "text/batch.h"
#include "text/token_view.h"

namespace llmtool {

enum class Sampling {
  random,      ///< Starts uniform over all n - block_size places, independent draws.
  epoch,       ///< Windows side by side, each once per pass, in an order that is shuffled anew each pass.
  sequential,  ///< Windows side by side, in order, from the beginning again after the last.
};

/// By its name in the configuration; request_error for another.
Sampling sampling_of(std::string_view name);

class WindowSampler {
 public:
  /// What `tokens` refers to must outlive the sampler; it holds at least block_size + 1. A step takes batch *
  /// micro_batches windows.
  WindowSampler(TokenView tokens, std::int64_t block_size, std::int64_t batch, std::int64_t micro_batches,
                Sampling sampling, std::uint64_t seed);

  /// How many different windows there are: n - block_size for random, (n - 1) / block_size otherwise.
  std::int64_t windows() const noexcept;

  /// Where the window of a sample begins; sample = micro * batch + row is its number within the step, so that
  /// accumulation over micro-batches sees what one larger batch would.
  std::int64_t start(std::int64_t step, std::int64_t sample) const noexcept;

  /// One micro-batch of a step; every target counts.
  Batch batch(std::int64_t step, std::int64_t micro) const;

 private:
  TokenView tokens_;
  std::int64_t block_, batch_, micro_batches_;
  Sampling sampling_;
  std::uint64_t seed_;
};

}  // namespace llmtool
