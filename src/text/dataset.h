// The tokens a run works on: a training part and a held-out part. Not here: which windows of them are used
// (sampler.h, eval_windows.h).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace llmtool {

class TokenDataset {
 public:
  /// The last n_val of n tokens are held out: n_val = n * val_fraction rounded up (a product within 1e-12 of
  /// an integer counts as that integer), 0 <= val_fraction < 1. 669 tokens and 0.1 give 602 and 67.
  TokenDataset(std::vector<std::int32_t> tokens, double val_fraction);
  /// Two separate texts.
  TokenDataset(std::vector<std::int32_t> train_tokens, std::vector<std::int32_t> val_tokens);

  std::span<const std::int32_t> train() const noexcept { return std::span(tokens_).first(n_train_); }
  std::span<const std::int32_t> val() const noexcept { return std::span(tokens_).subspan(n_train_); }

  /// world_error if the training part is empty or shorter than block_size + 1 tokens (one window: inputs and
  /// targets shifted by one), or the held-out part is a single token, which leaves nothing to predict. A
  /// held-out part shorter than a window is fine. Names both numbers.
  void require_window(std::int64_t block_size) const;

 private:
  std::vector<std::int32_t> tokens_;  ///< Training part, then held-out part.
  std::size_t n_train_;
};

/// How many of n tokens are held out; the rule of the constructor above.
std::int64_t val_tokens_of(std::int64_t n, double val_fraction) noexcept;

}  // namespace llmtool
