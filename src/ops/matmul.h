// Products of matrices: plain and batched, and the linear layer that a GPT spends its time in.
#pragma once
#include <span>

#include "tensor/tensor.h"

namespace llmtool::ops {

/// (..., M, K) x (..., K, N) -> (..., M, N); leading dimensions broadcast. dA = dY B^T, dB = A^T dY. Keeps a
/// and b.
Tensor matmul(const Tensor& a, const Tensor& b);

enum class Activation { none, relu, gelu, gelu_exact };

/// x (..., I), weight (O, I), bias (O) or undefined -> act(x W^T + b) (..., O). dX = dP W, dW = dP^T X, db =
/// sum of dP, with dP = dY * act'(pre). Keeps x, weight and, with an activation, the value before it.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Activation activation = Activation::none);

/// Several linear layers of one input as one product: weights (O_i, I) that lie one behind the other in
/// memory (as parameters declared one after another do), biases likewise or all undefined -> (..., sum O_i).
/// Where they do not lie so, the products are made one by one, with the same result.
Tensor linear_joined(const Tensor& x, std::span<const Tensor> weights, std::span<const Tensor> biases);

}  // namespace llmtool::ops
