#version 450
// layer_norm: y = (x - mean) / sqrt(var + eps) * gain + bias over each row, with (mean, 1/sqrt(var + eps)) kept
// in stats (NormParams). A group a row, the variance in a pass of its own: E[x^2] - E[x]^2 would cancel.
#extension GL_GOOGLE_include_directive : require
#define PARAMS NormParams
#include "launch.glsl"
#include "math.glsl"
#include "reduce.glsl"

READS(0, float, x);
READS(1, float, gain);
READS(2, float, bias);
WRITES(3, float, y);
WRITES(4, float, stats);

void main() {
  const bool biased = PRESENT(2);
  const float n = float(p.cols);
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    float sum = 0.0;
    FOR_COLUMNS(c) sum += AT(0, x, row + c);
    const float mean = quotient(reduce_sum(sum), n);
    float squares = 0.0;
    FOR_COLUMNS(c) {
      const float d = AT(0, x, row + c) - mean;
      squares = fma(d, d, squares);
    }
    const float inverse = quotient(1.0, root(quotient(reduce_sum(squares), n) + p.eps));
    if (gl_LocalInvocationID.x == 0u) {
      AT(4, stats, 2u * r) = mean;
      AT(4, stats, 2u * r + 1u) = inverse;
    }
    FOR_COLUMNS(c) {
      const float h = (AT(0, x, row + c) - mean) * inverse;
      AT(3, y, row + c) = biased ? fma(h, AT(1, gain, c), AT(2, bias, c)) : h * AT(1, gain, c);
    }
  }
}
