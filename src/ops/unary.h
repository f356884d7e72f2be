// Functions of each element.
#pragma once
#include "tensor/tensor.h"

namespace llmtool::ops {

Tensor exp(const Tensor& x);         ///< dx = dy * y. Keeps y.
Tensor log(const Tensor& x);         ///< dx = dy / x. Keeps x.
Tensor sqrt(const Tensor& x);        ///< dx = dy / (2 y). Keeps y.
Tensor tanh(const Tensor& x);        ///< dx = dy * (1 - y^2). Keeps y.
Tensor relu(const Tensor& x);        ///< max(x, 0); the derivative at 0 is 0. Keeps x.
Tensor gelu(const Tensor& x);        ///< 0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3))). Keeps x.
Tensor gelu_exact(const Tensor& x);  ///< 0.5 x (1 + erf(x / sqrt 2)). Keeps x.
Tensor silu(const Tensor& x);        ///< x / (1 + exp(-x)). Keeps x.
/// x (..., 2F) = [gate | up] gives silu(gate) * up (..., F). Keeps x. (Shazeer, "GLU variants improve
/// transformer", 2020.)
Tensor swiglu(const Tensor& x);

}  // namespace llmtool::ops
