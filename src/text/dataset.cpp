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

TokenDataset::TokenDataset(const TokenView& tokens, double val_fraction) {
  LLMTOOL_CHECK(val_fraction >= 0 && val_fraction < 1, "val_fraction ", val_fraction);
  const std::int64_t held_out = val_tokens_of(tokens.size(), val_fraction);
  train_ = tokens.part(0, tokens.size() - held_out);
  val_ = tokens.part(tokens.size() - held_out, held_out);
}

void TokenDataset::require_window(std::int64_t block_size) const {
  if (train_.empty() && val_.empty()) throw world_error("the data holds no tokens");
  const auto n = train_.size();
  const auto held_out = val_.size();
  if (n < block_size + 1) {
    throw world_error(
        cat("the training part has ", n, n == 1 ? " token" : " tokens",
            held_out > 0 ? cat(" (and ", held_out, " held out)") : "", ", too few for one window of ",
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
