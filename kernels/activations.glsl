// relu, gelu and gelu_exact with their slopes, and the tanh and erf that they stand on (params.h, UnaryParams
// has the formulas). Our own tanh and erf: GLSL has no erf, and drivers' tanh loses all relative accuracy near 0
// and gives NaN for large arguments (both exponentials overflow). NaN is kept, for comparisons with it are
// false. The polynomials are minimax fits for the ranges named. Not here: which buffers they are applied to.
#ifndef LLMTOOL_KERNELS_ACTIVATIONS_GLSL
#define LLMTOOL_KERNELS_ACTIVATIONS_GLSL

// e^r - 1 for |r| <= ln 2 / 2.
float exp_minus_one_near_zero(float r) {
  float q = 1.990770680e-04;
  q = fma(q, r, 1.393373294e-03);
  q = fma(q, r, 8.333285832e-03);
  q = fma(q, r, 4.166646417e-02);
  q = fma(q, r, 1.666666676e-01);
  q = fma(q, r, 5.000000014e-01);
  return fma(q, r * r, r);
}

// e^x - 1 for x in [0, 30]: x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts so that n times the first is
// exact; relative error about 1e-7, near 0 too.
float exp_minus_one(float x) {
  const float n = roundEven(x * 1.44269504);
  const float r = fma(n, -0.693359375, x);
  const float q = exp_minus_one_near_zero(fma(n, 2.12194440e-4, r));
  const float scale = intBitsToFloat((int(n) + 127) << 23);
  return fma(q, scale, scale - 1.0);
}

// tanh x = (e^2x - 1) / (e^2x + 1); relative error about 3e-7; the argument is held within 15, where tanh is 1.
float bounded_tanh(float x) {
  const float a = abs(x) > 15.0 ? 15.0 : abs(x);
  const float e = exp_minus_one(a + a);
  const float t = e / (e + 2.0);
  return x < 0.0 ? -t : t;
}

// erf x: x P(x^2) up to |x| = 1, 1 - exp(-x Q(x)) beyond; error below 1.5e-7, relative near 0 too.
float erf_of(float x) {
  const float a = abs(x) > 4.0 ? 4.0 : abs(x);
  const float u = a * a;
  float s = 7.889123182e-05;
  s = fma(s, u, -8.020842374e-04);
  s = fma(s, u, 5.189535462e-03);
  s = fma(s, u, -2.685444466e-02);
  s = fma(s, u, 1.128360018e-01);
  s = fma(s, u, -3.761262714e-01);
  s = fma(s, u, 1.128379166e+00);
  float q = 1.413366599e-05;
  q = fma(q, a, -3.523304531e-04);
  q = fma(q, a, 3.764653297e-03);
  q = fma(q, a, -2.402549450e-02);
  q = fma(q, a, 1.065490868e-01);
  q = fma(q, a, 6.349583073e-01);
  q = fma(q, a, 1.128697156e+00);
  const float y = a > 1.0 ? 1.0 - exp(-a * q) : a * s;
  return x < 0.0 ? -y : y;
}

float relu(float x) { return x <= 0.0 ? 0.0 : x; }
float relu_slope(float x) { return x > 0.0 ? 1.0 : 0.0; }

// Tanh form of GELU (Hendrycks and Gimpel, "Gaussian error linear units", 2016).
float gelu_inner_tanh(float x) { return bounded_tanh(0.7978845608 * x * fma(0.044715 * x, x, 1.0)); }
float gelu(float x) {
  const float h = 0.5 * x;
  return fma(h, gelu_inner_tanh(x), h);
}
float gelu_slope(float x) {
  // Where tanh is 1 to the last bit its slope is 0, but x^2 may overflow: 0 times infinity.
  if (abs(x) > 16.0) return x > 0.0 ? 1.0 : 0.0;
  const float t = gelu_inner_tanh(x);
  const float inner_slope = fma(3.0 * 0.044715 * 0.7978845608 * x, x, 0.7978845608);
  return fma(0.5 * x * fma(-t, t, 1.0), inner_slope, fma(0.5, t, 0.5));
}

// Erf form: x times the normal distribution function.
float gelu_exact(float x) {
  const float h = 0.5 * x;
  return fma(h, erf_of(x * 0.70710678), h);
}
float gelu_exact_slope(float x) {
  const float density = 0.39894228 * exp(-0.5 * x * x);
  return fma(x, density, fma(0.5, erf_of(x * 0.70710678), 0.5));
}

// The activation of a matrix product, by its LLMTOOL_ACT_ number.
float activate(uint activation, float x) {
  if (activation == LLMTOOL_ACT_RELU) return relu(x);
  if (activation == LLMTOOL_ACT_GELU) return gelu(x);
  if (activation == LLMTOOL_ACT_GELU_EXACT) return gelu_exact(x);
  return x;
}

#endif
