#version 450
// gather_rows: y[r] = table[ids[r]], zeros for an id below 0 (GatherParams). A piece of a cut launch holds the
// table's rows from window[0] on: it writes the rows of y whose id falls among them, and the zeros where
// window[0] is 0.
#extension GL_GOOGLE_include_directive : require
#define PARAMS GatherParams
#include "launch.glsl"

READS(0, float, table);
READS(1, int, ids);
WRITES(2, float, y);

void main() {
  const uint n = p.rows * p.cols;
  for (uint i = FLAT_BEGIN; i < n; i += FLAT_STEP) {
    const uint r = i / p.cols;
    const int id = AT(1, ids, r);
    const uint row = uint(id) - placement.window[0];
    if (id < 0) {
      if (placement.window[0] == 0u) AT(2, y, i) = 0.0;
    } else if (row < p.table_rows) {
      AT(2, y, i) = AT(0, table, row * p.cols + (i - r * p.cols));
    }
  }
}
