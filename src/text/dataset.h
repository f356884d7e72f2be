// The tokens a run works on: a training part and a held-out part. Not here: which windows of them are used
// (sampler.h, eval_windows.h) and where ids come from.
#pragma once
#include <cstdint>
#include <vector>

#include "text/token_view.h"

namespace llmtool {

class TokenDataset {
 public:
  /// The last n_val of n tokens are held out: n_val = n * val_fraction rounded up (a product within 1e-12 of
  /// an integer counts as that integer), 0 <= val_fraction < 1. 669 tokens and 0.1 give 602 and 67.
  TokenDataset(const TokenView& tokens, double val_fraction);
  TokenDataset(std::vector<std::int32_t> tokens, double val_fraction)
      : TokenDataset(TokenView::owning(std::move(tokens)), val_fraction) {}
  /// Two separate texts.
  TokenDataset(TokenView train_tokens, TokenView val_tokens)
      : train_(std::move(train_tokens)), val_(std::move(val_tokens)) {}
  TokenDataset(std::vector<std::int32_t> train_tokens, std::vector<std::int32_t> val_tokens)
      : TokenDataset(TokenView::owning(std::move(train_tokens)), TokenView::owning(std::move(val_tokens))) {}

  const TokenView& train() const noexcept { return train_; }
  const TokenView& val() const noexcept { return val_; }

  /// world_error if the training part is empty or shorter than block_size + 1 tokens (one window: inputs and
  /// targets shifted by one), or the held-out part is a single token, which leaves nothing to predict. A
  /// held-out part shorter than a window is fine. Names both numbers.
  void require_window(std::int64_t block_size) const;

 private:
  TokenView train_, val_;
};

/// How many of n tokens are held out; the rule of the constructor above.
std::int64_t val_tokens_of(std::int64_t n, double val_fraction) noexcept;

}  // namespace llmtool
