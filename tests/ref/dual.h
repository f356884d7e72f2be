// A dual number: a value and its derivative along one direction, so that one forward pass gives an exact
// directional derivative. Comparisons look at the value alone, so that max, relu and rounding follow the
// branch that was taken.
#pragma once
#include <cmath>

namespace llmtool::ref {

struct Dual {
  double v = 0;  ///< Value.
  double d = 0;  ///< Derivative.

  Dual() = default;
  Dual(double value) : v(value) {}  // NOLINT: constants mix with duals as they do in formulas
  Dual(double value, double derivative) : v(value), d(derivative) {}

  Dual& operator+=(Dual o) { return *this = {v + o.v, d + o.d}; }
  Dual& operator-=(Dual o) { return *this = {v - o.v, d - o.d}; }
};

inline Dual operator-(Dual a) { return {-a.v, -a.d}; }
inline Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
inline Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
inline Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
inline Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.d - a.v / b.v * b.d) / b.v}; }
inline bool operator<(Dual a, Dual b) { return a.v < b.v; }
inline bool operator>(Dual a, Dual b) { return a.v > b.v; }
inline bool operator<=(Dual a, Dual b) { return a.v <= b.v; }
inline bool operator>=(Dual a, Dual b) { return a.v >= b.v; }
inline bool operator==(Dual a, Dual b) { return a.v == b.v; }

}  // namespace llmtool::ref
