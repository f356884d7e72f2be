#version 450
// swiglu: y = silu(gate) * up, where a row of x is [gate | up] (SwigluParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS SwigluParams
#include "launch.glsl"
#include "math.glsl"

READS(0, float, x);
UPDATES(1, float, y);

void main() {
  const uint n = p.rows * p.cols;
  for (uint i = FLAT_BEGIN; i < n; i += FLAT_STEP) {
    const uint gate = i + i / p.cols * p.cols;
    const float value = silu_of(AT(0, x, gate)) * AT(0, x, gate + p.cols);
    AT(1, y, i) = p.accumulate != 0u ? AT(1, y, i) + value : value;
  }
}
