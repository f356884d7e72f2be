// TokenDataset: the split and its checks.
#include "text/dataset.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace llmtool {

std::int64_t val_tokens_of(std::int64_t n, double val_fraction) noexcept {
  // 10 * 0.3 is a little above 3 in binary; without the tolerance four tokens would be held out.
  const double exact = static_cast<double>(n) * val_fraction;
  return std::min(n, static_cast<std::int64_t>(std::ceil(exact * (1 - 1e-12))));
}

TokenDataset::TokenDataset(std::vector<std::int32_t> tokens, double val_fraction)
    : tokens_(std::move(tokens)) {
  LLMTOOL_CHECK(val_fraction >= 0 && val_fraction < 1, "val_fraction ", val_fraction);
  const auto n = static_cast<std::int64_t>(tokens_.size());
  n_train_ = static_cast<std::size_t>(n - val_tokens_of(n, val_fraction));
}

TokenDataset::TokenDataset(std::vector<std::int32_t> train_tokens, std::vector<std::int32_t> val_tokens)
    : tokens_(std::move(train_tokens)), n_train_(tokens_.size()) {
  tokens_.insert(tokens_.end(), val_tokens.begin(), val_tokens.end());
}

void TokenDataset::require_window(std::int64_t block_size) const {
  if (tokens_.empty()) throw world_error("the data holds no tokens");
  const auto n = static_cast<std::int64_t>(n_train_);
  const auto held_out = static_cast<std::int64_t>(val().size());
  if (n < block_size + 1) {
    throw world_error(
        cat("the training part has ", n, " tokens",
            held_out > 0 ? cat(" (", held_out, " more are held out)") : "", ", too few for one window of ",
            block_size + 1, " (model.block_size ", block_size, " + 1)"),
        "use more text, a smaller model.block_size or data.val_fraction, or smaller tokens (tokenizer.type "
        "char or bytes, or a smaller tokenizer.vocab_size)");
  }
  if (held_out == 1) {
    throw world_error("the held-out part has 1 token, at least 2 are needed to predict one from the other",
                      "raise data.val_fraction, or set it to 0");
  }
}

}  // namespace llmtool
