// Windows over a held-out text in which every token but the first is predicted exactly once, in batches of
// one fixed shape; all of them, or a fixed few for the estimates during a run. Not here: random windows
// (sampler.h).
#pragma once
#include <cstdint>

#include "text/batch.h"
#include "text/token_view.h"

namespace llmtool {

class EvalWindows {
 public:
  /// What `tokens` refers to must outlive the object; fewer than two make zero batches. stride 0 means
  /// block_size: windows side by side. With a smaller stride (1 .. block_size) windows overlap, each predicts
  /// only what the one before did not, and so with more context. max_batches > 0 keeps at most that many
  /// batches of windows, evenly spread.
  EvalWindows(TokenView tokens, std::int64_t block_size, std::int64_t batch, std::int64_t max_batches = 0,
              std::int64_t stride = 0);

  std::int64_t batches() const noexcept { return (used_ + batch_ - 1) / batch_; }
  /// Tokens that are predicted over all batches (n - 1 without max_batches).
  std::int64_t counted() const noexcept;

  /// Batch `index`, always [batch, block_size]: where a window ends early or the last rows have none, inputs
  /// are 0 and targets ignore_index.
  Batch batch(std::int64_t index) const;

 private:
  /// One window: inputs begin at `start`; the tokens first .. last are predicted.
  struct Window {
    std::int64_t start, first, last;
  };
  Window window(std::int64_t index) const noexcept;

  TokenView tokens_;
  std::int64_t block_, batch_, stride_;
  std::int64_t all_;   ///< Windows that cover the text.
  std::int64_t used_;  ///< Those of them that are used.
};

}  // namespace llmtool
