#version 450
// layer_norm_backward: with h = (x - mean) s and g = dy gain, dx = s (g - mean(g) - h mean(g h)) over each row
// (NormParams). A group a row.
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
  const float n = float(p.cols);
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    const float mean = AT(2, stats, 2u * r), s = AT(2, stats, 2u * r + 1u);
    float sum = 0.0, dot_h = 0.0;
    FOR_COLUMNS(c) {
      const float g = AT(3, dy, row + c) * AT(1, gain, c);
      sum += g;
      dot_h = fma(g, (AT(0, x, row + c) - mean) * s, dot_h);
    }
    const float a = reduce_sum(sum) / n, b = reduce_sum(dot_h) / n;
    FOR_COLUMNS(c) {
      const float h = (AT(0, x, row + c) - mean) * s;
      const float value = s * (fma(AT(3, dy, row + c), AT(1, gain, c), -a) - h * b);
      AT(4, dx, row + c) = p.accumulate != 0u ? AT(4, dx, row + c) + value : value;
    }
  }
}
