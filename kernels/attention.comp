#version 450
// attention: the forward pass (AttentionParams) with the softmax made on the way (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022). A workgroup takes a
// block of queries of one head and goes through the blocks of keys from key 0 on: scores, the largest of each
// row, weights into shared memory, weighted values into registers. Blocks that no query sees are left out;
// later queries, which see more keys, are started first. Keys and values pass through the same tile.
#extension GL_GOOGLE_include_directive : require
#define STEP 3
#include "attention.glsl"

WRITES(4, float, out_);
WRITES(5, float, stats);
layout(set = 0, binding = 4, std430) writeonly buffer BoundVecOut { vec4 out_vec[]; };

const uint KEYS4 = KEYS / 4;
const uint WEIGHT_PITCH = KEYS4 + 1;
const uint ACROSS4 = ACROSS / 4;

shared vec4 query_tile[QUERIES * PITCH];
shared vec4 key_tile[KEYS * PITCH];
shared vec4 weights[QUERIES * WEIGHT_PITCH];
shared vec4 across[QUERIES * ACROSS4];  // a value of every thread of a row

vec4 outs[QUERY_ROWS * VECS];

// outs += weights x values. With `some_hidden` values of weight 0 are left out rather than multiplied: they may
// be infinite.
void add_values(uint x, uint y, bool some_hidden) {
  [[dont_unroll]] for (uint key4 = 0; key4 < KEYS4; ++key4) {
    vec4 weight[QUERY_ROWS];
    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
      weight[i] = weights[min(y + i * DOWN, QUERIES - 1) * WEIGHT_PITCH + key4];
    }
    [[unroll]] for (uint e = 0; e < 4; ++e) {
      [[unroll]] for (uint j = 0; j < VECS; ++j) {
        const vec4 value = key_tile[(key4 * 4 + e) * PITCH + min(x + j * ACROSS, HEAD4 - 1)];
        [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
          if (!some_hidden || weight[i][e] != 0.0) {
            outs[i * VECS + j] = fma(vec4(weight[i][e]), value, outs[i * VECS + j]);
          }
        }
      }
    }
  }
}

void main() {
  const uint x = gl_LocalInvocationID.x % ACROSS, y = gl_LocalInvocationID.x / ACROSS;
  const uint blocks = (p.tokens + QUERIES - 1) / QUERIES, all_heads = p.batch * p.heads;
  for (uint task = gl_WorkGroupID.x; task < blocks * all_heads; task += gl_NumWorkGroups.x) {
    const uint first = (blocks - 1 - task / all_heads) * QUERIES;
    const uint b = task % all_heads / p.heads, h = task % p.heads;
    const uint kv_base = key_at(b, h / (p.heads / p.kv_heads));
    const uvec2 draw = DROPOUT ? draw_of_head(b, h) : uvec2(0);

    barrier();  // the last task's reads are done
    FILL(query_tile, QUERIES, q, VEC_Q, query_at(b, h), p.q_row, first, p.tokens, p.scale)
    float largest[QUERY_ROWS];
    float total[QUERY_ROWS];  // of this thread's keys
    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
      largest[i] = HIDDEN;
      total[i] = 0.0;
    }
    [[unroll]] for (uint i = 0; i < QUERY_ROWS * VECS; ++i) outs[i] = vec4(0.0);

    const uint seen = min(p.keys, p.position0 + first + QUERIES);  // by the block's last query
    for (uint key0 = 0; key0 < seen; key0 += KEYS) {
      FILL(key_tile, KEYS, k, VEC_K, kv_base, p.kv_row, key0, p.keys, 1.0)
      barrier();
      float scores[QUERY_ROWS * KEY_COLS];
      [[unroll]] for (uint i = 0; i < QUERY_ROWS * KEY_COLS; ++i) scores[i] = 0.0;
      ADD_SCORES(scores, query_tile, key_tile, x, y)
      [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
        const uint row = y + i * DOWN, position = p.position0 + first + row;
        float row_max = HIDDEN;
        [[unroll]] for (uint j = 0; j < KEY_COLS; ++j) {
          const uint col = x + j * ACROSS;
          if (key0 + col > position || col >= KEYS) scores[i * KEY_COLS + j] = HIDDEN;
          row_max = max(row_max, scores[i * KEY_COLS + j]);
        }
        if (row < QUERIES) across[row * ACROSS4 + x / 4][x % 4] = row_max;
      }
      barrier();  // also: the keys have been read
      FILL(key_tile, KEYS, v, VEC_V, kv_base, p.kv_row, key0, p.keys, 1.0)
      [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
        const uint row = y + i * DOWN;
        if (row < QUERIES) {
          float row_max = largest[i];
          [[unroll]] for (uint a = 0; a < ACROSS4; ++a) {
            const vec4 four = across[row * ACROSS4 + a];
            row_max = max(row_max, max(max(four.x, four.y), max(four.z, four.w)));
          }
          const float shrink = exp(largest[i] - row_max);
          largest[i] = row_max;
          total[i] *= shrink;
          [[unroll]] for (uint j = 0; j < VECS; ++j) outs[i * VECS + j] *= shrink;
          [[unroll]] for (uint j = 0; j < KEY_COLS; ++j) {
            const uint col = x + j * ACROSS;
            const bool hidden = key0 + col > p.position0 + first + row;
            const float weight = hidden ? 0.0 : exp(scores[i * KEY_COLS + j] - row_max);
            if (col < KEYS) {
              total[i] += weight;
              weights[row * WEIGHT_PITCH + col / 4][col % 4] = weight;
            }
          }
        }
      }
      barrier();
      if (DROPOUT) {
        [[dont_unroll]] for (uint e = gl_LocalInvocationID.x; e < QUERIES * KEYS4; e += THREADS) {
          const uint row = e / KEYS4, key4 = e % KEYS4;
          weights[row * WEIGHT_PITCH + key4] *= kept4(draw, first + row, key0 + key4 * 4);
        }
        barrier();
      }
      if (key0 + KEYS > p.position0 + first + 1) {
        add_values(x, y, true);
      } else {
        add_values(x, y, false);
      }
      barrier();  // the values have been read
    }

    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
      const uint row = y + i * DOWN;
      if (row < QUERIES) across[row * ACROSS4 + x / 4][x % 4] = total[i];
    }
    barrier();
    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
      const uint row = y + i * DOWN, t = first + row;
      if (row < QUERIES && t < p.tokens) {
        float sum = 0.0;
        [[unroll]] for (uint a = 0; a < ACROSS4; ++a) {
          const vec4 four = across[row * ACROSS4 + a];
          sum += (four.x + four.y) + (four.z + four.w);
        }
        const float inverse = 1.0 / sum;
        if (x == 0) AT(5, stats, stats_at(b, h, t)) = largest[i] + log(sum);
        const uint base = out_at(b, h) + t * p.heads * HEAD;
        [[unroll]] for (uint j = 0; j < VECS; ++j) {
          const uint at4 = x + j * ACROSS;
          vec4 value = outs[i * VECS + j] * inverse;
          if ((FLAGS & VEC_OUT) != 0u) {
            if (at4 < HEAD4) out_vec[(SHIFT(4) + base) / 4 + at4] = value;
          } else {
            [[dont_unroll]] for (uint e = at4 * 4; e < min(at4 * 4 + 4, HEAD); ++e) {
              AT(4, out_, base + e) = value.x;
              value = value.yzwx;
            }
          }
        }
      }
    }
  }
}
