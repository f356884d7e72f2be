#version 450
// scatter_rows: table[id] += the sum of the dy rows that have that id, in the order of the plan, which is
// [count, unique ids (rows), starts (rows + 1), order (rows)] (GatherParams). A group owns a block of columns of
// one unique id at a time, so no two add to one element and no atomics are needed; ids outside the table are
// passed over. A piece of a cut launch holds the table's rows from window[0] on, and, where window[3] is not 0,
// window[3] rows of dy from window[2] on.
#extension GL_GOOGLE_include_directive : require
#define PARAMS GatherParams
#include "launch.glsl"

READS(0, float, dy);
READS(1, int, plan);
UPDATES(2, float, table);

void main() {
  const uint unique = 1u, starts = 1u + p.rows, order = 2u + 2u * p.rows;
  const uint threads = gl_WorkGroupSize.x;
  const uint blocks = (p.cols - 1u) / threads + 1u;
  const uint first_row = placement.window[2];
  const uint dy_rows = placement.window[3] != 0u ? placement.window[3] : p.rows;
  // The plan comes from the host in a buffer: what it says is kept within what was bound.
  const uint count = min(uint(max(AT(1, plan, 0u), 0)), p.rows);
  for (uint task = gl_WorkGroupID.x; task < count * blocks; task += gl_NumWorkGroups.x) {
    const uint u = task / blocks;
    const uint c = (task - u * blocks) * threads + gl_LocalInvocationID.x;
    const int id = AT(1, plan, unique + u);
    const uint row = uint(id) - placement.window[0];
    if (id < 0 || row >= p.table_rows || c >= p.cols) continue;
    const uint end = min(uint(AT(1, plan, starts + u + 1u)), p.rows);
    float sum = 0.0;
    // Four rows a turn: loads that do not wait for each other. What is added, and when, stays as the plan says.
    for (uint k = uint(AT(1, plan, starts + u)); k < end; k += 4u) {
      float term[4];
      for (uint j = 0u; j < 4u; ++j) {
        const uint r = k + j < end ? uint(AT(1, plan, order + k + j)) - first_row : dy_rows;
        term[j] = r < dy_rows ? AT(0, dy, r * p.cols + c) : 0.0;
      }
      for (uint j = 0u; j < 4u; ++j) sum += term[j];
    }
    AT(2, table, row * p.cols + c) += sum;
  }
}
