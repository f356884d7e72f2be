#version 450
// column_sum: y[c] = the sum over rows, in their order, of x[r][c] (RowsParams): the second half of sums over
// rows that were cut into blocks. An element a thread.
#extension GL_GOOGLE_include_directive : require
#define PARAMS RowsParams
#include "launch.glsl"

READS(0, float, x);
UPDATES(1, float, y);

void main() {
  for (uint c = FLAT_BEGIN; c < p.cols; c += FLAT_STEP) {
    float sum = 0.0;
    for (uint r = 0u; r < p.rows; ++r) sum += AT(0, x, r * p.cols + c);
    AT(1, y, c) = p.accumulate != 0u ? AT(1, y, c) + sum : sum;
  }
}
