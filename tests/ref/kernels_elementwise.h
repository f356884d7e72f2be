// Reference kernels on elements: broadcast arithmetic, functions of one variable and their derivatives,
// swiglu.
#pragma once
#include "kernels/params.h"
#include "ref/arguments.h"
#include "ref/scalar_math.h"

namespace llmtool::ref::kernels {

/// The coordinates of element i of a contiguous 4-d array, last dimension fastest.
struct Index4 {
  std::size_t at[4];
  Index4(std::size_t i, const std::uint32_t (&shape)[4]) {
    for (int d = 3; d >= 0; --d) {
      at[d] = i % shape[d];
      i /= shape[d];
    }
  }
  std::size_t offset(const std::uint32_t (&stride)[4]) const {
    return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
  }
};

template <class T, class F>
void broadcast(Arguments<T>& v, const BroadcastParams& p, F f) {
  for (std::size_t i = 0; i < p.n; ++i) {
    const Index4 at(i, p.shape);
    v[2].put(i, f(v[0].get(at.offset(p.a_stride)), v[1].get(at.offset(p.b_stride))));
  }
}

#define LLMTOOL_REF_BROADCAST(name, expression)                \
  template <class T>                                           \
  void name(Arguments<T>& v, const BroadcastParams& p) {       \
    broadcast(v, p, [](T a, T b) -> T { return expression; }); \
  }
LLMTOOL_REF_BROADCAST(add, a + b)
LLMTOOL_REF_BROADCAST(sub, a - b)
LLMTOOL_REF_BROADCAST(mul, a* b)
LLMTOOL_REF_BROADCAST(div, a / b)
LLMTOOL_REF_BROADCAST(pow, math::pow(a, b))
LLMTOOL_REF_BROADCAST(pow_da, value_of(b) == 0 ? T(0) : b * math::pow(a, b - T(1)))
LLMTOOL_REF_BROADCAST(pow_db, value_of(a) <= 0 ? T(0) : math::pow(a, b) * math::log(a))
#undef LLMTOOL_REF_BROADCAST

template <class T>
T gelu_of(T x) {
  return T(0.5) * x * (T(1) + math::tanh(T(0.7978845608) * (x + T(0.044715) * x * x * x)));
}
template <class T>
T gelu_exact_of(T x) {
  return T(0.5) * x * (T(1) + math::erf(x / T(std::numbers::sqrt2)));
}
template <class T>
T relu_of(T x) {
  return value_of(x) > 0 ? x : T(0);
}

#define LLMTOOL_REF_UNARY(name, expression)          \
  template <class T>                                 \
  void name(Arguments<T>& v, const UnaryParams& p) { \
    [[maybe_unused]] const T a(p.a), b(p.b);         \
    for (std::size_t i = 0; i < p.n; ++i) {          \
      const T x = v[0].get(i);                       \
      v[1].put(i, expression);                       \
    }                                                \
  }
LLMTOOL_REF_UNARY(exp, math::exp(x))
LLMTOOL_REF_UNARY(log, math::log(x))
LLMTOOL_REF_UNARY(sqrt, math::sqrt(x))
LLMTOOL_REF_UNARY(tanh, math::tanh(x))
LLMTOOL_REF_UNARY(relu, relu_of(x))
LLMTOOL_REF_UNARY(gelu, gelu_of(x))
LLMTOOL_REF_UNARY(gelu_exact, gelu_exact_of(x))
LLMTOOL_REF_UNARY(silu, x* math::sigmoid(x))
LLMTOOL_REF_UNARY(affine, a* x + b)
LLMTOOL_REF_UNARY(pow_scalar, math::pow(x, a))
#undef LLMTOOL_REF_UNARY

template <class T>
T gelu_slope(T x) {
  const T c(0.7978845608), k(0.044715);
  const T t = math::tanh(c * (x + k * x * x * x));
  return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * c * (T(1) + T(3) * k * x * x);
}
template <class T>
T gelu_exact_slope(T x) {
  const T density = math::exp(-x * x / T(2)) / T(std::sqrt(2 * std::numbers::pi));
  return T(0.5) * (T(1) + math::erf(x / T(std::numbers::sqrt2))) + x * density;
}
template <class T>
T silu_slope(T x) {
  const T s = math::sigmoid(x);
  return s * (T(1) + x * (T(1) - s));
}

/// `s` is what the forward kept: its y for exp, sqrt and tanh, else its x.
#define LLMTOOL_REF_BACKWARD(name, expression)       \
  template <class T>                                 \
  void name(Arguments<T>& v, const UnaryParams& p) { \
    [[maybe_unused]] const T a(p.a);                 \
    for (std::size_t i = 0; i < p.n; ++i) {          \
      const T s = v[0].get(i);                       \
      const T slope = expression;                    \
      v[2].put(i, v[1].get(i) * slope);              \
    }                                                \
  }
LLMTOOL_REF_BACKWARD(exp_backward, s)
LLMTOOL_REF_BACKWARD(log_backward, T(1) / s)
LLMTOOL_REF_BACKWARD(sqrt_backward, T(0.5) / s)
LLMTOOL_REF_BACKWARD(tanh_backward, T(1) - s * s)
LLMTOOL_REF_BACKWARD(relu_backward, T(value_of(s) > 0 ? 1 : 0))
LLMTOOL_REF_BACKWARD(gelu_backward, gelu_slope(s))
LLMTOOL_REF_BACKWARD(gelu_exact_backward, gelu_exact_slope(s))
LLMTOOL_REF_BACKWARD(silu_backward, silu_slope(s))
LLMTOOL_REF_BACKWARD(pow_scalar_backward, p.a == 0 ? T(0) : a * math::pow(s, a - T(1)))
#undef LLMTOOL_REF_BACKWARD

template <class T>
void swiglu(Arguments<T>& v, const SwigluParams& p) {
  const std::size_t cols = p.cols;
  for (std::size_t i = 0; i < p.rows * cols; ++i) {
    const std::size_t gate = i / cols * 2 * cols + i % cols;
    const T g = v[0].get(gate);
    v[1].put(i, g * math::sigmoid(g) * v[0].get(gate + cols));
  }
}

template <class T>
void swiglu_backward(Arguments<T>& v, const SwigluParams& p) {
  const std::size_t cols = p.cols;
  for (std::size_t i = 0; i < p.rows * cols; ++i) {
    const std::size_t gate = i / cols * 2 * cols + i % cols;
    const T g = v[0].get(gate), up = v[0].get(gate + cols), dy = v[1].get(i);
    v[2].put(gate, dy * up * silu_slope(g));
    v[2].put(gate + cols, dy * g * math::sigmoid(g));
  }
}

}  // namespace llmtool::ref::kernels
