// Arithmetic of two tensors with NumPy broadcasting, and of a tensor and a number.
#pragma once
#include "tensor/tensor.h"

namespace llmtool::ops {

/// a + b. da = dy, db = dy, each summed over the dimensions in which it was broadcast.
Tensor add(const Tensor& a, const Tensor& b);
/// a - b. db = -dy.
Tensor sub(const Tensor& a, const Tensor& b);
/// a * b. da = dy * b, db = dy * a. Keeps a and b.
Tensor mul(const Tensor& a, const Tensor& b);
/// a / b. da = dy / b, db = -dy * y / b. Keeps b and y.
Tensor div(const Tensor& a, const Tensor& b);
/// a^b. da = dy * b * a^(b-1), db = dy * y * ln a (0 where a <= 0). Keeps a and b.
Tensor pow(const Tensor& a, const Tensor& b);
/// x^p for a number p. dx = dy * p * x^(p-1). Keeps x.
Tensor pow(const Tensor& x, float p);
/// scale * x + shift. dx = scale * dy.
Tensor affine(const Tensor& x, float scale, float shift);

}  // namespace llmtool::ops

namespace llmtool {
/// The operators are found beside Tensor, so that formulas read as such.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::div(a, b); }
inline Tensor operator+(const Tensor& x, float s) { return ops::affine(x, 1, s); }
inline Tensor operator-(const Tensor& x, float s) { return ops::affine(x, 1, -s); }
inline Tensor operator*(const Tensor& x, float s) { return ops::affine(x, s, 0); }
inline Tensor operator*(float s, const Tensor& x) { return ops::affine(x, s, 0); }
inline Tensor operator-(const Tensor& x) { return ops::affine(x, -1, 0); }
}  // namespace llmtool
