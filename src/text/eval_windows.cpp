// EvalWindows.
#include "text/eval_windows.h"

#include <algorithm>

#include "base/error.h"

namespace llmtool {

EvalWindows::EvalWindows(TokenView tokens, std::int64_t block_size, std::int64_t batch,
                         std::int64_t max_batches, std::int64_t stride)
    : tokens_(std::move(tokens)),
      block_(block_size),
      batch_(batch),
      stride_(stride == 0 ? block_size : stride) {
  LLMTOOL_CHECK(block_size > 0 && batch > 0 && stride_ > 0 && stride_ <= block_size, "block ", block_size,
                " batch ", batch, " stride ", stride_);
  const std::int64_t targets = tokens_.size() - 1;
  // The first window predicts up to block_ tokens, each further one stride_ more.
  all_ = targets <= 0 ? 0 : 1 + (std::max<std::int64_t>(targets - block_, 0) + stride_ - 1) / stride_;
  used_ = max_batches > 0 ? std::min(all_, max_batches * batch_) : all_;
}

EvalWindows::Window EvalWindows::window(std::int64_t index) const noexcept {
  // Evenly spread over all windows; the identity when all are used.
  const std::int64_t number = used_ == all_ ? index : index * all_ / used_;
  const std::int64_t start = number * stride_;
  const std::int64_t last = std::min<std::int64_t>(start + block_, tokens_.size() - 1);
  return {start, number == 0 ? 1 : start - stride_ + block_ + 1, last};
}

std::int64_t EvalWindows::counted() const noexcept {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < used_; ++i) {
    const Window w = window(i);
    sum += w.last - w.first + 1;
  }
  return sum;
}

Batch EvalWindows::batch(std::int64_t index) const {
  LLMTOOL_CHECK(index >= 0 && index < batches(), "batch ", index, " of ", batches());
  Batch out;
  out.batch = batch_;
  out.block = block_;
  out.inputs.assign(static_cast<std::size_t>(batch_ * block_), 0);
  out.targets.assign(static_cast<std::size_t>(batch_ * block_), ignore_index);
  const std::int64_t rows = std::min(batch_, used_ - index * batch_);
  for (std::int64_t row = 0; row < rows; ++row) {
    const Window w = window(index * batch_ + row);
    const auto place = [&](std::vector<std::int32_t>& ids, std::int64_t at, std::int64_t count) {
      return std::span(ids).subspan(static_cast<std::size_t>(row * block_ + at),
                                    static_cast<std::size_t>(count));
    };
    tokens_.copy(w.start, place(out.inputs, 0, w.last - w.start));
    // The target of the input at token i is token i + 1.
    tokens_.copy(w.first, place(out.targets, w.first - 1 - w.start, w.last - w.first + 1));
    out.counted += w.last - w.first + 1;
  }
  return out;
}

}  // namespace llmtool
