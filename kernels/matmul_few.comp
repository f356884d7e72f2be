#version 450
// matmul_few: the product A x B^T (MatmulParams, form NT) for a few rows of A, as in decoding, where the time
// goes into reading B once. A team of LANES threads makes COLS columns of all rows: its threads read
// neighbouring vec4s of the rows of B, keep a chain of fused multiply-adds for every element, and add these up
// in shared memory, half by half. Rows and columns beyond the end repeat the last ones. The order of an element's
// sum does not depend on m. Workgroup z is the batch.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define PARAMS MatmulParams
#include "launch.glsl"

layout(constant_id = 1) const uint LANES = 32;
layout(constant_id = 2) const uint TEAMS = 4;  // LANES * TEAMS equals constant 0
layout(constant_id = 3) const uint ROWS = 1;   // at least m
layout(constant_id = 4) const uint COLS = 1;
layout(constant_id = 5) const uint FLAGS = 0;  // bits 0 and 1: rows of a, of b, are whole vec4s

READS(0, float, a);
READS(1, float, b);
READS(2, float, bias);
WRITES(3, float, pre);
UPDATES(4, float, c);
layout(set = 0, binding = 0, std430) readonly buffer BoundVec0 { vec4 a_vec[]; };
layout(set = 0, binding = 1, std430) readonly buffer BoundVec1 { vec4 b_vec[]; };

#define BIAS 2
#define PRE 3
#define C 4
#include "matmul_epilogue.glsl"

const uint THREADS = LANES * TEAMS;
const uint VALUES = ROWS * COLS;
shared float partial[VALUES * THREADS];

// Elements at .. at + 3 of a row of which `left`, at least one, are left; 0 beyond.
vec4 load_a(uint at, uint left) {
  if ((FLAGS & 1u) != 0u) return a_vec[at / 4];
  const uvec4 each = at + min(uvec4(0, 1, 2, 3), uvec4(left - 1));
  return mix(vec4(0.0), vec4(a[each.x], a[each.y], a[each.z], a[each.w]),
             greaterThan(uvec4(left), uvec4(0, 1, 2, 3)));
}
vec4 load_b(uint at, uint left) {
  if ((FLAGS & 2u) != 0u) return b_vec[at / 4];
  const uvec4 each = at + min(uvec4(0, 1, 2, 3), uvec4(left - 1));
  return mix(vec4(0.0), vec4(b[each.x], b[each.y], b[each.z], b[each.w]),
             greaterThan(uvec4(left), uvec4(0, 1, 2, 3)));
}

void main() {
  const uint id = gl_LocalInvocationID.x, lane = id % LANES, team = id / LANES;
  for (uint batch = gl_WorkGroupID.z; batch < p.batch0 * p.batch1; batch += gl_NumWorkGroups.z) {
    const uint a_base = SHIFT(0) + batch_offset(batch, p.a_batch[0], p.a_batch[1]);
    const uint b_base = SHIFT(1) + batch_offset(batch, p.b_batch[0], p.b_batch[1]);
    const uint c_base = batch_offset(batch, p.c_batch[0], p.c_batch[1]);
    for (uint group = gl_WorkGroupID.x * TEAMS * COLS; group < p.n; group += gl_NumWorkGroups.x * TEAMS * COLS) {
      const uint col0 = group + team * COLS;
      float sums[VALUES];
      [[unroll]] for (uint v = 0; v < VALUES; ++v) sums[v] = 0.0;
      for (uint k = 4 * lane; k < p.k; k += 4 * LANES) {
        vec4 b_part[COLS];
        [[unroll]] for (uint j = 0; j < COLS; ++j) {
          b_part[j] = load_b(b_base + min(col0 + j, p.n - 1) * p.ldb + k, p.k - k);
        }
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
          const vec4 a_part = load_a(a_base + min(i, p.m - 1) * p.lda + k, p.k - k);
          [[unroll]] for (uint j = 0; j < COLS; ++j) {
            float sum = sums[i * COLS + j];
            [[unroll]] for (uint e = 0; e < 4; ++e) sum = fma(a_part[e], b_part[j][e], sum);
            sums[i * COLS + j] = sum;
          }
        }
      }
      barrier();  // the last group's sums have been read
      [[unroll]] for (uint v = 0; v < VALUES; ++v) partial[v * THREADS + id] = sums[v];
      barrier();
      for (uint half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
        if (lane < half_lanes) {
          [[unroll]] for (uint v = 0; v < VALUES; ++v) {
            partial[v * THREADS + id] += partial[v * THREADS + id + half_lanes];
          }
        }
        barrier();
      }
      for (uint v = lane; v < VALUES; v += LANES) {
        const uint i = v / COLS, j = col0 + v % COLS;
        if (i < p.m && j < p.n) {
          float sum = partial[v * THREADS + team * LANES];
          if (PRESENT(BIAS)) sum += AT(BIAS, bias, j);
          finish(sum, c_base + i * p.ldc + j, p.activation);
        }
      }
    }
  }
}
