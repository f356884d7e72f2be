// Losses. Sums over targets that count; `ignore_index` rows give nothing, and none counted gives 0.
#pragma once
#include "ops/index.h"
#include "tensor/tensor.h"

namespace llmtool::ops {

/// mean((a - b)^2).
Tensor mse_loss(const Tensor& a, const Tensor& b);

/// logits (..., V), targets -> scalar: targets.scale * sum over counted rows of logsumexp(logits) -
/// logits[target]. dlogits = scale * (softmax - onehot). Keeps that gradient.
Tensor cross_entropy(const Tensor& logits, const Targets& targets);

/// The vocabulary head and its loss as one: cross_entropy(linear(x, weight), targets), in chunks of rows, so
/// that the logits of a whole batch never exist. x (..., C), weight (V, C). With gradients on, dX and dW are
/// made here, in the forward (dW is added to weight's gradient at once), so the result must be the root of
/// backward().
Tensor head_loss(const Tensor& x, const Tensor& weight, const Targets& targets);

/// Rows per chunk that head_loss takes: from the shapes alone.
std::int64_t head_loss_chunk(std::int64_t rows, std::int64_t vocab) noexcept;

}  // namespace llmtool::ops
