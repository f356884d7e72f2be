#version 450
// rms_norm: y = x / sqrt(mean(x^2) + eps) * gain over each row, with 1/sqrt(...) kept in stats (NormParams). A
// group a row.
#extension GL_GOOGLE_include_directive : require
#define PARAMS NormParams
#include "launch.glsl"
#include "math.glsl"
#include "reduce.glsl"

READS(0, float, x);
READS(1, float, gain);
WRITES(2, float, y);
WRITES(3, float, stats);

void main() {
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    float squares = 0.0;
    FOR_COLUMNS(c) squares = fma(AT(0, x, row + c), AT(0, x, row + c), squares);
    const float inverse = quotient(1.0, root(quotient(reduce_sum(squares), float(p.cols)) + p.eps));
    if (gl_LocalInvocationID.x == 0u) AT(3, stats, r) = inverse;
    FOR_COLUMNS(c) AT(2, y, row + c) = AT(0, x, row + c) * inverse * AT(1, gain, c);
  }
}
