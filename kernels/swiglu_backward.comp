#version 450
// swiglu_backward: dgate = dy up silu'(gate), dup = dy silu(gate), where a row of x is [gate | up] and dx lies
// as x does (SwigluParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS SwigluParams
#include "launch.glsl"
#include "math.glsl"

READS(0, float, x);
READS(1, float, dy);
UPDATES(2, float, dx);

void put(uint i, float value) { AT(2, dx, i) = p.accumulate != 0u ? AT(2, dx, i) + value : value; }

void main() {
  const uint n = p.rows * p.cols;
  for (uint i = FLAT_BEGIN; i < n; i += FLAT_STEP) {
    const uint gate = i + i / p.cols * p.cols, up = gate + p.cols;
    const float g = AT(0, x, gate), d = AT(1, dy, i);
    const float s = sigmoid_of(g);
    put(gate, d * AT(0, x, up) * (s * fma(g, 1.0 - s, 1.0)));
    put(up, d * (g * s));
  }
}
