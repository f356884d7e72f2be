#version 450
// softmax_backward: dx = y (dy - sum of y dy) over each row (RowsParams). A group a row.
#extension GL_GOOGLE_include_directive : require
#define PARAMS RowsParams
#include "launch.glsl"
#include "reduce.glsl"

READS(0, float, y);
READS(1, float, dy);
UPDATES(2, float, dx);

void main() {
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    float sum = 0.0;
    FOR_COLUMNS(c) sum = fma(AT(0, y, row + c), AT(1, dy, row + c), sum);
    sum = reduce_sum(sum);
    FOR_COLUMNS(c) {
      const float value = AT(0, y, row + c) * (AT(1, dy, row + c) - sum);
      AT(2, dx, row + c) = p.accumulate != 0u ? AT(2, dx, row + c) + value : value;
    }
  }
}
