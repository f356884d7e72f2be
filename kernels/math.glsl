// exp, log, pow, roots and quotients, to a few units in the last place and the same on every driver: the
// built-in exp and pow are loose by the size of their argument, pow of a negative base is undefined, division
// and sqrt may be off by 2.5 units. Polynomials are minimax fits for these ranges, the same as the CPU's. Every
// function keeps NaN, told by its bits, for drivers may make a minimum of a comparison. `precise` stops them from
// rearranging what only works as written. Not here: activations (activations.glsl), any kernel.
#ifndef LLMTOOL_MATH_GLSL
#define LLMTOOL_MATH_GLSL
#include "activations.glsl"

#define INFINITY uintBitsToFloat(0x7f800000u)
#define QUIET_NAN uintBitsToFloat(0x7fc00000u)

bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool is_finite(float x) { return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u; }
bool is_infinite(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }

/// 2^n for n in [-127, 128]; -127 gives 0, 128 infinity.
float power_of_two(int n) { return uintBitsToFloat(uint(n + 127) << 23); }

/// x + low = n ln 2 + r with |r| <= ln 2 / 2: gives e^r - 1 and n. |x| below 2^15; low far below x.
float exp_parts(float x, float low, out int n) {
  const float nf = roundEven(x * 1.44269504);
  n = int(nf);
  // ln 2 in two parts, the first short enough for n times it to be exact.
  precise float r = x - nf * 0.693359375;
  r = fma(nf, 2.12194440e-4, r);
  r = r + low;
  return exp_minus_one_near_zero(r);
}

/// e^(x + low); infinity above 88.73, 0 below -104.
float exp_sum(float x, float low) {
  if (is_nan(x)) return x;
  if (x > 89.0) return INFINITY;
  if (x < -104.0) return 0.0;
  int n;
  const float y = exp_parts(x, low, n) + 1.0;
  const int half_n = n >> 1;
  precise float scaled = y * power_of_two(half_n);
  scaled = scaled * power_of_two(n - half_n);
  return scaled;
}

/// e^x.
float exp_of(float x) { return exp_sum(x, 0.0); }

/// ln x = sum.x + sum.y for normal x > 0, the second far below the first: absolute error about 2e-8, relative
/// about 2^-24 squared times a few near 1.
vec2 log_parts(float x) {
  // Mantissa in [sqrt(1/2), sqrt 2): subtract the bits of sqrt(1/2), what is above the mantissa is the exponent.
  const int bits = floatBitsToInt(x);
  const int e = (bits - 0x3F3504F3) >> 23;
  const float f = intBitsToFloat(bits - (e << 23)) - 1.0;
  const float n = float(e);
  float q = 7.332532684e-02;
  q = fma(q, f, -1.165993031e-01);
  q = fma(q, f, 1.163466177e-01);
  q = fma(q, f, -1.239670024e-01);
  q = fma(q, f, 1.425115569e-01);
  q = fma(q, f, -1.666915102e-01);
  q = fma(q, f, 2.000068809e-01);
  q = fma(q, f, -2.499998119e-01);
  q = fma(q, f, 3.333333126e-01);
  const float f2 = f * f;
  precise float tail = q * f2 * f;
  tail = fma(n, -2.12194440e-4, tail);
  tail = fma(f2, -0.5, tail);
  // n times the short part of ln 2 is exact and, unless 0, larger than f: what the sum loses is known.
  precise float whole = n * 0.693359375;
  precise float sum = whole + f;
  precise float lost = e == 0 ? 0.0 : f - (sum - whole);
  lost = lost + tail;
  precise float high = sum + lost;
  precise float low = lost - (high - sum);
  return vec2(high, low);
}

/// ln x; ln 0 = -infinity, NaN below 0. What is below the normal range may count as 0.
float log_of(float x) {
  if (is_nan(x) || x < 0.0) return QUIET_NAN;
  if (x == 0.0) return -INFINITY;
  if (is_infinite(x)) return x;
  const bool subnormal = x < 1.17549435e-38;
  const vec2 sum = log_parts(subnormal ? x * 8388608.0 : x);
  return subnormal ? sum.x - 15.9423851529 : sum.x;
}

/// tanh x, NaN kept on drivers too that make a minimum of the comparison within bounded_tanh.
float tanh_of(float x) { return is_nan(x) ? x : bounded_tanh(x); }

/// 1 / (1 + e^-x), without overflow on either side.
float sigmoid_of(float x) {
  const float e = exp_of(-abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

/// Quotient and root rounded better than the 2.5 units that drivers may be off: one correction by what is left.
float quotient(float a, float b) {
  precise float q = a / b;
  precise float left = fma(-q, b, a);
  precise float better = q + left / b;
  return is_finite(better) ? better : q;
}
float root(float x) {
  if (is_nan(x) || x < 0.0) return QUIET_NAN;
  if (x == 0.0 || is_infinite(x)) return x;
  precise float y = sqrt(x);
  precise float left = fma(-y, y, x);
  precise float better = y + 0.5 * left / y;
  return is_finite(better) ? better : y;
}

/// A product and what it lost in rounding, from halves of 12 bits whose products are exact.
vec2 exact_product(float a, float b) {
  const float a1 = uintBitsToFloat(floatBitsToUint(a) & 0xfffff000u), a2 = a - a1;
  const float b1 = uintBitsToFloat(floatBitsToUint(b) & 0xfffff000u), b2 = b - b1;
  precise float product = a * b;
  precise float lost = a1 * b1 - product;
  lost = lost + a1 * b2;
  lost = lost + a2 * b1;
  lost = lost + a2 * b2;
  return vec2(product, lost);
}

/// a^b as C's pow: negative bases with whole exponents, zeros, infinities and NaN included.
float power(float a, float b) {
  if (b == 0.0 || a == 1.0) return 1.0;
  if (is_nan(a) || is_nan(b)) return QUIET_NAN;
  const float base = abs(a);
  const bool whole = abs(b) >= 8388608.0 || b == floor(b);
  const bool odd = whole && abs(b) < 16777216.0 && (int(b) & 1) != 0;
  if (a < 0.0 && !whole && !is_infinite(a)) return QUIET_NAN;
  float y;
  if (base == 0.0 || is_infinite(base)) {
    y = (base == 0.0) == (b < 0.0) ? INFINITY : 0.0;
  } else if (is_infinite(b)) {
    y = base == 1.0 ? 1.0 : ((base > 1.0) == (b > 0.0) ? INFINITY : 0.0);
  } else {
    const bool subnormal = base < 1.17549435e-38;
    vec2 sum = log_parts(subnormal ? base * 8388608.0 : base);
    if (subnormal) sum.x -= 15.9423851529;
    if (abs(sum.x * b) > 110.0) {
      y = (sum.x > 0.0) == (b > 0.0) ? INFINITY : 0.0;
    } else {
      const vec2 exponent = exact_product(sum.x, b);
      y = exp_sum(exponent.x, exponent.y + sum.y * b);
    }
  }
  return odd && (floatBitsToUint(a) >> 31) != 0u ? -y : y;
}

/// x / (1 + e^-x) and its derivative.
float silu_of(float x) { return x * sigmoid_of(x); }
float silu_slope(float x) {
  const float s = sigmoid_of(x);
  return s * fma(x, 1.0 - s, 1.0);
}

#endif
