// The functions the reference kernels need, for double and for Dual under the same names.
#pragma once
#include <cmath>
#include <numbers>

#include "ref/dual.h"

namespace llmtool::ref {

inline double value_of(double x) { return x; }
inline double value_of(Dual x) { return x.v; }

namespace math {

using std::erf;
using std::exp;
using std::log;
using std::pow;
using std::sqrt;
using std::tanh;

inline Dual exp(Dual x) { return {std::exp(x.v), x.d * std::exp(x.v)}; }
inline Dual log(Dual x) { return {std::log(x.v), x.d / x.v}; }
inline Dual sqrt(Dual x) { return {std::sqrt(x.v), x.d == 0 ? 0 : x.d / (2 * std::sqrt(x.v))}; }
inline Dual tanh(Dual x) {
  const double y = std::tanh(x.v);
  return {y, x.d * (1 - y * y)};
}
inline Dual erf(Dual x) { return {std::erf(x.v), x.d * 2 * std::numbers::inv_sqrtpi * std::exp(-x.v * x.v)}; }
inline Dual pow(Dual a, Dual b) {
  const double y = std::pow(a.v, b.v);
  const double da = a.d == 0 || b.v == 0 ? 0 : a.d * b.v * std::pow(a.v, b.v - 1);
  const double db = b.d == 0 || a.v <= 0 ? 0 : b.d * y * std::log(a.v);
  return {y, da + db};
}
/// 1 / (1 + exp(-x)), without overflow on either side.
template <class T>
T sigmoid(T x) {
  if (value_of(x) >= 0) return T(1) / (T(1) + exp(-x));
  const T e = exp(x);
  return e / (T(1) + e);
}

}  // namespace math
}  // namespace llmtool::ref
