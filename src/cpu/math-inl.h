// exp, log, tanh, erf and what follows from them, on vectors of f32. Our own: Highway's versions turn NaN
// into 0, which would hide a diverged run. Polynomials are minimax fits made for these ranges. Every function
// keeps NaN. The errors stated are the limits tested (tests/kernels/cpu_math.cpp checks them on a
// sample). Compiled per target.
#if defined(LLMTOOL_CPU_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_MATH_INL
#undef LLMTOOL_CPU_MATH_INL
#else
#define LLMTOOL_CPU_MATH_INL
#endif

#include "cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// x = n ln 2 + r with |r| <= ln 2 / 2: gives e^r - 1 and the bits of n (as an integer). |x| below 2^21.
struct ExpParts {
  VF minus_one;
  hn::Vec<DI> n;
};
HWY_INLINE ExpParts exp_parts(VF x) {
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves that integer in the low bits.
  const VF magic = set(12582912.0f);
  const VF shifted = hn::MulAdd(x, set(1.44269504f), magic);
  const VF nf = hn::Sub(shifted, magic);
  // ln 2 in two parts, the first short enough for n times it to be exact.
  VF r = hn::NegMulAdd(nf, set(0.693359375f), x);
  r = hn::NegMulAdd(nf, set(-2.12194440e-4f), r);
  VF p = set(1.990770680e-04f);
  p = hn::MulAdd(p, r, set(1.393373294e-03f));
  p = hn::MulAdd(p, r, set(8.333285832e-03f));
  p = hn::MulAdd(p, r, set(4.166646417e-02f));
  p = hn::MulAdd(p, r, set(1.666666676e-01f));
  p = hn::MulAdd(p, r, set(5.000000014e-01f));
  p = hn::MulAdd(p, hn::Mul(r, r), r);
  return {p, hn::Sub(hn::BitCast(DI(), shifted), hn::BitCast(DI(), magic))};
}
/// 2^n for n in [-127, 128]; -127 gives 0, 128 infinity.
HWY_INLINE VF power_of_two(hn::Vec<DI> n) {
  return hn::BitCast(DF(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(DI(), 127))));
}

/// e^x; within 2 ulp, subnormal results included; 0 below -104, infinity above 88.73.
HWY_INLINE VF exp(VF x) {
  const VF low = set(-104.0f), high = set(89.0f);
  x = hn::IfThenElse(hn::Lt(x, low), low, x);
  x = hn::IfThenElse(hn::Gt(x, high), high, x);
  const ExpParts e = exp_parts(x);
  const auto half = hn::ShiftRight<1>(e.n);
  const VF y = hn::Add(e.minus_one, set(1.0f));
  return hn::Mul(hn::Mul(y, power_of_two(half)), power_of_two(hn::Sub(e.n, half)));
}

/// e^x for x <= 0, as softmax needs it; 0 below -87 (no subnormal results).
HWY_INLINE VF exp_nonpositive(VF x) {
  const auto tiny = hn::Lt(x, set(-87.0f));
  x = hn::IfThenZeroElse(tiny, x);
  const ExpParts e = exp_parts(x);
  const VF scale = power_of_two(e.n);
  return hn::IfThenZeroElse(tiny, hn::MulAdd(e.minus_one, scale, scale));
}

/// ln x; within 2.5 ulp; subnormals included; ln 0 = -infinity, NaN below 0.
HWY_INLINE VF log(VF x) {
  const auto subnormal = hn::Lt(x, set(1.17549435e-38f));
  const VF scaled = hn::IfThenElse(subnormal, hn::Mul(x, set(8388608.0f)), x);
  const auto bits = hn::BitCast(DI(), scaled);
  // Mantissa in [sqrt(1/2), sqrt 2): subtract the bits of sqrt(1/2), what is above the mantissa is the
  // exponent.
  const auto offset = hn::Set(DI(), 0x3F3504F3);
  const auto e = hn::ShiftRight<23>(hn::Sub(bits, offset));
  const VF m = hn::BitCast(DF(), hn::Sub(bits, hn::ShiftLeft<23>(e)));
  const VF n = hn::Sub(hn::ConvertTo(DF(), e), hn::IfThenElseZero(subnormal, set(23.0f)));
  const VF f = hn::Sub(m, set(1.0f));
  VF p = set(7.332532684e-02f);
  p = hn::MulAdd(p, f, set(-1.165993031e-01f));
  p = hn::MulAdd(p, f, set(1.163466177e-01f));
  p = hn::MulAdd(p, f, set(-1.239670024e-01f));
  p = hn::MulAdd(p, f, set(1.425115569e-01f));
  p = hn::MulAdd(p, f, set(-1.666915102e-01f));
  p = hn::MulAdd(p, f, set(2.000068809e-01f));
  p = hn::MulAdd(p, f, set(-2.499998119e-01f));
  p = hn::MulAdd(p, f, set(3.333333126e-01f));
  const VF f2 = hn::Mul(f, f);
  VF y = hn::Mul(hn::Mul(p, f2), f);
  y = hn::MulAdd(n, set(-2.12194440e-4f), y);
  y = hn::NegMulAdd(f2, set(0.5f), y);
  y = hn::Add(f, y);
  y = hn::MulAdd(n, set(0.693359375f), y);
  y = hn::IfThenElse(hn::Eq(x, zero()), set(minus_infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero()), set(std::numeric_limits<float>::quiet_NaN()), y);
  const auto same = hn::Or(hn::Eq(x, set(-minus_infinity)), hn::IsNaN(x));
  return hn::IfThenElse(same, x, y);
}

/// tanh x; within 3.5 ulp, near 0 too; 1 from |x| = 15 on. (e^2x - 1) / (e^2x + 1) without the cancellation.
HWY_INLINE VF tanh(VF x) {
  VF a = hn::Abs(x);
  a = hn::IfThenElse(hn::Gt(a, set(15.0f)), set(15.0f), a);
  const ExpParts e = exp_parts(hn::Add(a, a));
  const VF scale = power_of_two(e.n);
  const VF m = hn::MulAdd(e.minus_one, scale, hn::Sub(scale, set(1.0f)));
  return hn::CopySignToAbs(hn::Div(m, hn::Add(m, set(2.0f))), x);
}

/// 1 / (1 + e^-x); absolute error below 1e-7.
HWY_INLINE VF sigmoid(VF x) { return hn::Div(set(1.0f), hn::Add(set(1.0f), exp(hn::Neg(x)))); }

/// erf x; absolute error below 1.5e-7, relative near 0 too: x P(x^2) up to 1, 1 - exp(-x Q(x)) beyond.
HWY_INLINE VF erf(VF x) {
  VF a = hn::Abs(x);
  a = hn::IfThenElse(hn::Gt(a, set(4.0f)), set(4.0f), a);
  const VF u = hn::Mul(a, a);
  VF p = set(7.889123182e-05f);
  p = hn::MulAdd(p, u, set(-8.020842374e-04f));
  p = hn::MulAdd(p, u, set(5.189535462e-03f));
  p = hn::MulAdd(p, u, set(-2.685444466e-02f));
  p = hn::MulAdd(p, u, set(1.128360018e-01f));
  p = hn::MulAdd(p, u, set(-3.761262714e-01f));
  p = hn::MulAdd(p, u, set(1.128379166e+00f));
  VF q = set(1.413366599e-05f);
  q = hn::MulAdd(q, a, set(-3.523304531e-04f));
  q = hn::MulAdd(q, a, set(3.764653297e-03f));
  q = hn::MulAdd(q, a, set(-2.402549450e-02f));
  q = hn::MulAdd(q, a, set(1.065490868e-01f));
  q = hn::MulAdd(q, a, set(6.349583073e-01f));
  q = hn::MulAdd(q, a, set(1.128697156e+00f));
  const VF large = hn::Sub(set(1.0f), exp_nonpositive(hn::Neg(hn::Mul(a, q))));
  const VF y = hn::IfThenElse(hn::Le(a, set(1.0f)), hn::Mul(a, p), large);
  return hn::CopySignToAbs(y, x);
}

constexpr float gelu_scale = 0.7978845608f;  // sqrt(2 / pi)
constexpr float gelu_cubic = 0.044715f;

/// Tanh form of GELU (Hendrycks and Gimpel, 2016).
HWY_INLINE VF gelu(VF x) {
  const VF x2 = hn::Mul(x, x);
  const VF inner = hn::Mul(hn::Mul(set(gelu_scale), x), hn::MulAdd(set(gelu_cubic), x2, set(1.0f)));
  const VF h = hn::Mul(set(0.5f), x);
  return hn::MulAdd(h, tanh(inner), h);
}
HWY_INLINE VF gelu_slope(VF x) {
  const VF x2 = hn::Mul(x, x);
  const VF t = tanh(hn::Mul(hn::Mul(set(gelu_scale), x), hn::MulAdd(set(gelu_cubic), x2, set(1.0f))));
  const VF inner_slope = hn::MulAdd(set(3.0f * gelu_cubic * gelu_scale), x2, set(gelu_scale));
  const VF sech2 = hn::NegMulAdd(t, t, set(1.0f));
  const VF half = set(0.5f);
  return hn::MulAdd(hn::Mul(hn::Mul(half, x), sech2), inner_slope, hn::MulAdd(half, t, half));
}

/// Erf form: x times the normal distribution function.
HWY_INLINE VF gelu_exact(VF x) {
  const VF h = hn::Mul(set(0.5f), x);
  return hn::MulAdd(h, erf(hn::Mul(x, set(0.70710678f))), h);
}
HWY_INLINE VF gelu_exact_slope(VF x) {
  const VF half = set(0.5f);
  const VF cdf = hn::MulAdd(half, erf(hn::Mul(x, set(0.70710678f))), half);
  const VF pdf = hn::Mul(set(0.39894228f), exp(hn::Mul(hn::Mul(x, x), set(-0.5f))));
  return hn::MulAdd(x, pdf, cdf);
}

HWY_INLINE VF silu(VF x) { return hn::Mul(x, sigmoid(x)); }
HWY_INLINE VF silu_slope(VF x) {
  const VF s = sigmoid(x);
  return hn::Mul(s, hn::MulAdd(x, hn::Sub(set(1.0f), s), set(1.0f)));
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
