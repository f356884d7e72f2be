// Softmax and log-softmax over the last dimension, stable at any magnitude.
#pragma once
#include "tensor/tensor.h"

namespace llmtool::ops {

/// y_i = exp(x_i - max) / sum_j exp(x_j - max). dx = y * (dy - sum(dy * y)). Keeps y.
Tensor softmax(const Tensor& x);
/// y_i = x_i - logsumexp(x). dx = dy - exp(y) * sum(dy). Keeps y.
Tensor log_softmax(const Tensor& x);

}  // namespace llmtool::ops
