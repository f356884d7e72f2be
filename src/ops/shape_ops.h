// Operations that move elements or only rename their places.
#pragma once
#include <initializer_list>

#include "tensor/tensor.h"

namespace llmtool::ops {

/// The same elements in another shape, sharing memory; one extent may be -1.
Tensor reshape(const Tensor& x, Shape shape);
/// Dimension i of the result is dimension order[i] of x. Copies.
Tensor permute(const Tensor& x, std::initializer_list<int> order);
/// Swaps two dimensions (negative: from the end). Copies.
Tensor transpose(const Tensor& x, int d0 = -2, int d1 = -1);

}  // namespace llmtool::ops
