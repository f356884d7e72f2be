#version 450
// log_softmax: y = x - max - ln(sum of e^(x - max)) over each row (RowsParams). A group a row.
#extension GL_GOOGLE_include_directive : require
#define PARAMS RowsParams
#include "launch.glsl"
#include "math.glsl"
#include "reduce.glsl"

READS(0, float, x);
WRITES(1, float, y);

void main() {
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    float largest = lowest;
    FOR_COLUMNS(c) largest = max(largest, AT(0, x, row + c));
    largest = reduce_max(largest);
    float sum = 0.0;
    FOR_COLUMNS(c) sum += exp_of(AT(0, x, row + c) - largest);
    const float log_sum = log_of(reduce_sum(sum));
    FOR_COLUMNS(c) AT(1, y, row + c) = (AT(0, x, row + c) - largest) - log_sum;
  }
}
