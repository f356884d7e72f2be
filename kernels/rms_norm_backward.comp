#version 450
// rms_norm_backward: with h = x s and g = dy gain, dx = s (g - h mean(g h)) over each row (NormParams). A group a
// row.
#extension GL_GOOGLE_include_directive : require
#define PARAMS NormParams
#include "launch.glsl"
#include "reduce.glsl"

READS(0, float, x);
READS(1, float, gain);
READS(2, float, stats);
READS(3, float, dy);
UPDATES(4, float, dx);

void main() {
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    const float s = AT(2, stats, r);
    float dot_h = 0.0;
    FOR_COLUMNS(c) dot_h = fma(AT(3, dy, row + c) * AT(1, gain, c), AT(0, x, row + c) * s, dot_h);
    const float b = reduce_sum(dot_h) / float(p.cols);
    FOR_COLUMNS(c) {
      const float value = s * (AT(3, dy, row + c) * AT(1, gain, c) - AT(0, x, row + c) * s * b);
      AT(4, dx, row + c) = p.accumulate != 0u ? AT(4, dx, row + c) + value : value;
    }
  }
}
