#version 450
// softmax: y = e^(x - max) / sum over each row (RowsParams). A group a row; the largest of a row is taken off
// first, so that nothing overflows.
#extension GL_GOOGLE_include_directive : require
#define PARAMS RowsParams
#include "launch.glsl"
#include "math.glsl"
#include "reduce.glsl"

READS(0, float, x);
UPDATES(1, float, y);

void main() {
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    float largest = lowest;
    FOR_COLUMNS(c) largest = max(largest, AT(0, x, row + c));
    largest = reduce_max(largest);
    float sum = 0.0;
    FOR_COLUMNS(c) {
      const float e = exp_of(AT(0, x, row + c) - largest);
      AT(1, y, row + c) = e;
      sum += e;
    }
    const float factor = 1.0 / reduce_sum(sum);
    FOR_COLUMNS(c) AT(1, y, row + c) *= factor;  // a thread's own elements
  }
}
