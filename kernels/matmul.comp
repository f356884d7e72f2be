#version 450
// matmul: the matrix product in tiles (MatmulParams), in all three forms.
//
// A workgroup makes a TILE_M x TILE_N tile of c in steps of TILE_K. Both operands pass through shared memory in
// k-major order (element (k, i) at k * (tile + 4) + i), so that a thread reads its rows and columns as vec4;
// the 4 spare columns spread transposed stores over the banks. While a step is computed, the next one is on its
// way into registers; where shared memory holds two stages, one barrier a step is enough. A thread owns ROWS x
// COLS elements in groups of 4 x 4 that lie threads-across apart, so that neighbouring threads read
// neighbouring vec4s; threads are numbered in patches of 8 x 4, so that 32 neighbours read the fewest words.
//
// Tiles are visited in bands of 8 rows of tiles, which keeps the operands of workgroups that run together in
// the cache. Workgroup y is the part of k between y * window[0] and the next: with more than one, c is a buffer
// of partial products, window[1] elements apart, that matmul_sum adds up. Workgroup z is the batch.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define PARAMS MatmulParams
#include "launch.glsl"

layout(constant_id = 1) const uint FORM = 0;
layout(constant_id = 2) const uint TILE_M = 64;
layout(constant_id = 3) const uint TILE_N = 64;
layout(constant_id = 4) const uint TILE_K = 16;
layout(constant_id = 5) const uint ROWS = 4;
layout(constant_id = 6) const uint COLS = 4;
// Bits 0, 1, 2: the stored rows of a, of b, and of c and pre, are whole vec4s. Bit 3: two stages. Bits 4 and 5:
// activation.
layout(constant_id = 7) const uint FLAGS = 0;

READS(0, float, a);
READS(1, float, b);
READS(2, float, bias);
WRITES(3, float, pre);
UPDATES(4, float, c);
layout(set = 0, binding = 0, std430) readonly buffer BoundVec0 { vec4 a_vec[]; };
layout(set = 0, binding = 1, std430) readonly buffer BoundVec1 { vec4 b_vec[]; };
layout(set = 0, binding = 3, std430) writeonly buffer BoundVec3 { vec4 pre_vec[]; };
layout(set = 0, binding = 4, std430) buffer BoundVec4 { vec4 c_vec[]; };

#define BIAS 2
#define PRE 3
#define C 4
#include "matmul_epilogue.glsl"

const bool VEC_A = (FLAGS & 1u) != 0u;
const bool VEC_B = (FLAGS & 2u) != 0u;
const bool VEC_C = (FLAGS & 4u) != 0u;
const uint STAGES = 1u + ((FLAGS >> 3) & 1u);
const uint ACTIVATION = (FLAGS >> 4) & 3u;
// Whether k runs along the stored rows of an operand.
const bool A_ALONG_K = FORM != LLMTOOL_MATMUL_TN;
const bool B_ALONG_K = FORM == LLMTOOL_MATMUL_NT;

const uint ACROSS = TILE_N / COLS;  // threads along a row of the tile
const uint DOWN = TILE_M / ROWS;
const uint THREADS = ACROSS * DOWN;   // equals constant 0
const uint A_PITCH = TILE_M / 4 + 1;  // vec4s between two k
const uint B_PITCH = TILE_N / 4 + 1;
const uint A_LOADS = TILE_M * TILE_K / 4 / THREADS;  // vec4s a thread loads in a step
const uint B_LOADS = TILE_N * TILE_K / 4 / THREADS;
const uint ROWS4 = ROWS / 4;
const uint COLS4 = COLS / 4;

shared vec4 a_tile[STAGES * TILE_K * A_PITCH];
shared vec4 b_tile[STAGES * TILE_K * B_PITCH];

// Four elements of a stored row of an operand that has rows x cols elements; 0 where there are none. Loads that
// would be outside are made elsewhere in the operand, which is cheaper than to branch around them.
vec4 load_a(uint base, uint row, uint col, uint rows, uint cols) {
  const uint left = row < rows && col < cols ? cols - col : 0;
  const uint at = left != 0 ? base + row * p.lda + col : base;
  if (VEC_A) return left != 0 ? a_vec[at / 4] : vec4(0.0);
  const uvec4 each = at + min(uvec4(0, 1, 2, 3), uvec4(max(left, 1u) - 1));
  return mix(vec4(0.0), vec4(a[each.x], a[each.y], a[each.z], a[each.w]),
             greaterThan(uvec4(left), uvec4(0, 1, 2, 3)));
}
vec4 load_b(uint base, uint row, uint col, uint rows, uint cols) {
  const uint left = row < rows && col < cols ? cols - col : 0;
  const uint at = left != 0 ? base + row * p.ldb + col : base;
  if (VEC_B) return left != 0 ? b_vec[at / 4] : vec4(0.0);
  const uvec4 each = at + min(uvec4(0, 1, 2, 3), uvec4(max(left, 1u) - 1));
  return mix(vec4(0.0), vec4(b[each.x], b[each.y], b[each.z], b[each.w]),
             greaterThan(uvec4(left), uvec4(0, 1, 2, 3)));
}

vec4 a_next[A_LOADS];
vec4 b_next[B_LOADS];

// One step's part of a thread, from element k0 of the inner dimension on.
void prefetch(uint a_base, uint b_base, uint row0, uint col0, uint k0) {
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    const uint v = gl_LocalInvocationID.x + l * THREADS;
    a_next[l] = A_ALONG_K ? load_a(a_base, row0 + v / (TILE_K / 4), k0 + v % (TILE_K / 4) * 4, p.m, p.k)
                          : load_a(a_base, k0 + v / (TILE_M / 4), row0 + v % (TILE_M / 4) * 4, p.k, p.m);
  }
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    const uint v = gl_LocalInvocationID.x + l * THREADS;
    b_next[l] = B_ALONG_K ? load_b(b_base, col0 + v / (TILE_K / 4), k0 + v % (TILE_K / 4) * 4, p.n, p.k)
                          : load_b(b_base, k0 + v / (TILE_N / 4), col0 + v % (TILE_N / 4) * 4, p.k, p.n);
  }
}

// What was prefetched, into stage `stage` of shared memory.
void store(uint stage) {
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    const uint v = gl_LocalInvocationID.x + l * THREADS;
    if (A_ALONG_K) {
      const uint row = v / (TILE_K / 4);
      const uint at = (stage * TILE_K + v % (TILE_K / 4) * 4) * A_PITCH + row / 4;
      [[unroll]] for (uint i = 0; i < 4; ++i) a_tile[at + i * A_PITCH][row % 4] = a_next[l][i];
    } else {
      a_tile[(stage * TILE_K + v / (TILE_M / 4)) * A_PITCH + v % (TILE_M / 4)] = a_next[l];
    }
  }
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    const uint v = gl_LocalInvocationID.x + l * THREADS;
    if (B_ALONG_K) {
      const uint col = v / (TILE_K / 4);
      const uint at = (stage * TILE_K + v % (TILE_K / 4) * 4) * B_PITCH + col / 4;
      [[unroll]] for (uint i = 0; i < 4; ++i) b_tile[at + i * B_PITCH][col % 4] = b_next[l][i];
    } else {
      b_tile[(stage * TILE_K + v / (TILE_N / 4)) * B_PITCH + v % (TILE_N / 4)] = b_next[l];
    }
  }
}

vec4 sums[ROWS * COLS4];

void multiply(uint stage, uint x, uint y) {
  [[dont_unroll]] for (uint k = 0; k < TILE_K; k += 4) {
    [[unroll]] for (uint kk = 0; kk < 4; ++kk) {
      const uint a_at = (stage * TILE_K + k + kk) * A_PITCH + y;
      const uint b_at = (stage * TILE_K + k + kk) * B_PITCH + x;
      vec4 a_part[ROWS4];
      vec4 b_part[COLS4];
      [[unroll]] for (uint i = 0; i < ROWS4; ++i) a_part[i] = a_tile[a_at + i * DOWN];
      [[unroll]] for (uint j = 0; j < COLS4; ++j) b_part[j] = b_tile[b_at + j * ACROSS];
      [[unroll]] for (uint i = 0; i < ROWS; ++i) {
        [[unroll]] for (uint j = 0; j < COLS4; ++j) {
          sums[i * COLS4 + j] = fma(vec4(a_part[i / 4][i % 4]), b_part[j], sums[i * COLS4 + j]);
        }
      }
    }
  }
}

// Four sums of row i from column j on, into c at `base`. Loops that rotate a vec4 rather than code for each of
// its elements: activations are long.
void write(vec4 value, vec4 bias_part, uint i, uint j, uint base) {
  if (i >= p.m || j >= p.n) return;
  const uint at = base + i * p.ldc + j;
  if (VEC_C) {
    const uint c_at = (SHIFT(C) + at) / 4;
    if (p.accumulate != 0u) {
      value += c_vec[c_at];
    } else {
      value += bias_part;
      if (PRESENT(PRE)) pre_vec[(SHIFT(PRE) + at) / 4] = value;
      if (ACTIVATION != LLMTOOL_ACT_NONE) {
        [[dont_unroll]] for (uint e = 0; e < 4; ++e) value = vec4(value.yzw, activate(ACTIVATION, value.x));
      }
    }
    c_vec[c_at] = value;
  } else {
    value += bias_part;
    [[dont_unroll]] for (uint e = 0; e < min(4, p.n - j); ++e) {
      finish(value.x, at + e, ACTIVATION);
      value = value.yzwx;
    }
  }
}

void main() {
  // Thread (x, y) of ACROSS x DOWN, in patches of 8 x 4 where these fit.
  const uint id = gl_LocalInvocationID.x;
  uint x = id % ACROSS, y = id / ACROSS;
  if (ACROSS % 8 == 0 && DOWN % 4 == 0) {
    x = id / 32 % (ACROSS / 8) * 8 + id % 8;
    y = id / 32 / (ACROSS / 8) * 4 + id / 8 % 4;
  }
  const uint tiles_m = (p.m + TILE_M - 1) / TILE_M, tiles_n = (p.n + TILE_N - 1) / TILE_N;
  const uint k_begin = gl_WorkGroupID.y * placement.window[0];
  const uint k_end = min(p.k, k_begin + placement.window[0]);
  for (uint batch = gl_WorkGroupID.z; batch < p.batch0 * p.batch1; batch += gl_NumWorkGroups.z) {
    const uint a_base = SHIFT(0) + batch_offset(batch, p.a_batch[0], p.a_batch[1]);
    const uint b_base = SHIFT(1) + batch_offset(batch, p.b_batch[0], p.b_batch[1]);
    const uint c_base =
        batch_offset(batch, p.c_batch[0], p.c_batch[1]) + gl_WorkGroupID.y * placement.window[1];
    for (uint tile = gl_WorkGroupID.x; tile < tiles_m * tiles_n; tile += gl_NumWorkGroups.x) {
      const uint band = tile / (8 * tiles_n) * 8, in_band = tile % (8 * tiles_n);
      const uint band_rows = min(8u, tiles_m - band);
      const uint row0 = (band + in_band % band_rows) * TILE_M, col0 = in_band / band_rows * TILE_N;

      [[unroll]] for (uint i = 0; i < ROWS * COLS4; ++i) sums[i] = vec4(0.0);
      // The step at k is loaded while the one before it is computed.
      uint stage = 0;
      [[dont_unroll]] for (uint k = k_begin; k_begin < k_end && k < k_end + TILE_K; k += TILE_K) {
        if (k < k_end) prefetch(a_base, b_base, row0, col0, k);
        if (k > k_begin) multiply(stage, x, y);
        if (STAGES == 1 || k == k_begin) barrier();  // the stage to be stored to has been read
        if (STAGES == 2) stage ^= 1u;
        if (k < k_end) store(stage);
        barrier();
      }

      vec4 bias_part[COLS4];
      [[unroll]] for (uint j = 0; j < COLS4; ++j) {
        const uint col = col0 + (j * ACROSS + x) * 4;
        bias_part[j] = vec4(0.0);
        if (PRESENT(BIAS)) {
          const uvec4 each = SHIFT(BIAS) + min(uvec4(col) + uvec4(0, 1, 2, 3), uvec4(p.n - 1));
          bias_part[j] = vec4(bias[each.x], bias[each.y], bias[each.z], bias[each.w]);
        }
      }
      [[unroll]] for (uint i = 0; i < ROWS; ++i) {
        [[unroll]] for (uint j = 0; j < COLS4; ++j) {
          write(sums[i * COLS4 + j], bias_part[j], row0 + (i / 4 * DOWN + y) * 4 + i % 4,
                col0 + (j * ACROSS + x) * 4, c_base);
        }
      }
    }
  }
}
