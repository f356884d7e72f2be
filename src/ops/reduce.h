// Sums and means.
#pragma once
#include "tensor/tensor.h"

namespace llmtool::ops {

Tensor sum(const Tensor& x);   ///< All elements, a scalar. dx = dy everywhere.
Tensor mean(const Tensor& x);  ///< sum(x) / numel.
/// Over the last dimension: (..., C) to (...), or (..., 1) with keepdim.
Tensor sum_last(const Tensor& x, bool keepdim = false);
Tensor mean_last(const Tensor& x, bool keepdim = false);
/// x summed over the dimensions in which `shape` was broadcast to x's shape; gives `shape`.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace llmtool::ops
