#version 450
// attention_backward_kv: dk and dv of causal attention (AttentionParams). A workgroup takes a block of keys of
// one key/value head and goes through the query heads that read it and their blocks of queries that see the
// keys, in that order: nothing is added by two workgroups. Weights and gradients of scores lie transposed in
// shared memory, so that a thread, which owns rows of dk and dv, reads four queries at a time.
#extension GL_GOOGLE_include_directive : require
#include "attention_backward.glsl"

UPDATES(6, float, dk);
UPDATES(7, float, dv);
layout(set = 0, binding = 6, std430) buffer BoundVecDk { vec4 dk_vec[]; };
layout(set = 0, binding = 7, std430) buffer BoundVecDv { vec4 dv_vec[]; };

const uint KEY_ROWS = (KEYS + DOWN - 1) / DOWN;
const uint KEYS4 = (KEYS + 3) / 4;
const uint QUERIES4 = (QUERIES + 3) / 4;
const uint SCORE_PITCH = QUERIES4 + 1;
const uint STEP_QUERIES = QUERIES < 4 ? QUERIES : 4;

shared vec4 query_tile[QUERIES * PITCH];
shared vec4 dout_tile[QUERIES * PITCH];
shared vec4 key_tile[KEYS * PITCH];
shared vec4 value_tile[KEYS * PITCH];
shared vec4 weights[KEYS * SCORE_PITCH];
shared vec4 d_scores[KEYS * SCORE_PITCH];

void main() {
  const uint x = gl_LocalInvocationID.x % ACROSS, y = gl_LocalInvocationID.x / ACROSS;
  const uint blocks = (p.keys + KEYS - 1) / KEYS, all_heads = p.batch * p.kv_heads;
  const uint group = p.heads / p.kv_heads;
  for (uint task = gl_WorkGroupID.x; task < blocks * all_heads; task += gl_NumWorkGroups.x) {
    const uint first = task / all_heads * KEYS;  // the first keys are seen by most queries
    const uint b = task % all_heads / p.kv_heads, g = task % p.kv_heads;

    barrier();  // the last task's reads are done
    FILL(key_tile, KEYS, k, VEC_K, key_at(b, g), p.kv_row, first, p.keys, 1.0)
    FILL(value_tile, KEYS, v, VEC_V, key_at(b, g), p.kv_row, first, p.keys, 1.0)
    vec4 dk_sums[KEY_ROWS * VECS];
    vec4 dv_sums[KEY_ROWS * VECS];
    [[unroll]] for (uint i = 0; i < KEY_ROWS * VECS; ++i) dk_sums[i] = dv_sums[i] = vec4(0.0);

    // The first block of queries that sees a key of this block.
    const uint query_begin = first > p.position0 ? (first - p.position0) / QUERIES * QUERIES : 0;
    for (uint h = g * group; h < (g + 1) * group; ++h) {
      const uvec2 draw = DROPOUT ? draw_of_head(b, h) : uvec2(0);
      for (uint query0 = query_begin; query0 < p.tokens; query0 += QUERIES) {
        barrier();  // the last block of queries has been read
        FILL(query_tile, QUERIES, q, VEC_Q, query_at(b, h), p.q_row, query0, p.tokens, p.scale)
        FILL(dout_tile, QUERIES, dout, VEC_OUT, out_at(b, h), p.heads * HEAD, query0, p.tokens, 1.0)
        if (DROPOUT) {  // the factors first lie where the weights will
          [[dont_unroll]] for (uint e = gl_LocalInvocationID.x; e < QUERIES * KEYS4; e += THREADS) {
            const uint row = e / KEYS4, col = e % KEYS4 * 4;
            vec4 factors = kept4(draw, query0 + row, first + col);
            [[dont_unroll]] for (uint j = col; j < min(col + 4, KEYS); ++j) {
              weights[j * SCORE_PITCH + row / 4][row % 4] = factors.x;
              factors = factors.yzwx;
            }
          }
        }
        barrier();
        float scores[QUERY_ROWS * KEY_COLS];
        float d_weights[QUERY_ROWS * KEY_COLS];
        [[unroll]] for (uint i = 0; i < QUERY_ROWS * KEY_COLS; ++i) scores[i] = d_weights[i] = 0.0;
        ADD_SCORES(scores, query_tile, key_tile, x, y)
        ADD_SCORES(d_weights, dout_tile, value_tile, x, y)
        [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
          const uint row = y + i * DOWN;
          const uint at = stats_at(b, h, min(query0 + row, p.tokens - 1));
          const float log_sum = AT(3, stats, at), delta = AT(3, stats, at + 1);
          [[unroll]] for (uint j = 0; j < KEY_COLS; ++j) {
            const uint col = x + j * ACROSS;
            if (row < QUERIES && col < KEYS) {
              const uint here = col * SCORE_PITCH + row / 4;
              const float factor = DROPOUT ? weights[here][row % 4] : 1.0;
              const Pair pair = pair_of(scores[i * KEY_COLS + j], d_weights[i * KEY_COLS + j], log_sum, delta,
                                        factor, query0 + row, first + col);
              weights[here][row % 4] = pair.weight;
              d_scores[here][row % 4] = pair.d_score;
            }
          }
        }
        barrier();
        [[dont_unroll]] for (uint query4 = 0; query4 < QUERIES4; ++query4) {
          vec4 weight[KEY_ROWS];
          vec4 d_score[KEY_ROWS];
          [[unroll]] for (uint i = 0; i < KEY_ROWS; ++i) {
            const uint at = min(y + i * DOWN, KEYS - 1) * SCORE_PITCH + query4;
            weight[i] = weights[at];
            d_score[i] = d_scores[at];
          }
          [[unroll]] for (uint e = 0; e < STEP_QUERIES; ++e) {
            [[unroll]] for (uint j = 0; j < VECS; ++j) {
              const uint at = (query4 * 4 + e) * PITCH + min(x + j * ACROSS, HEAD4 - 1);
              const vec4 of_query = query_tile[at], of_dout = dout_tile[at];
              [[unroll]] for (uint i = 0; i < KEY_ROWS; ++i) {
                dv_sums[i * VECS + j] = fma(vec4(weight[i][e]), of_dout, dv_sums[i * VECS + j]);
                dk_sums[i * VECS + j] = fma(vec4(d_score[i][e]), of_query, dk_sums[i * VECS + j]);
              }
            }
          }
        }
      }
    }

    [[unroll]] for (uint i = 0; i < KEY_ROWS; ++i) {
      const uint row = y + i * DOWN;
      if (row < KEYS && first + row < p.keys) {
        const uint at = key_at(b, g) + (first + row) * p.kv_row;
        [[unroll]] for (uint j = 0; j < VECS; ++j) {
          const uint at4 = x + j * ACROSS;
          vec4 dk_value = dk_sums[i * VECS + j], dv_value = dv_sums[i * VECS + j];
          WRITE_GRADIENT(6, dk, VEC_K, at, at4, dk_value)
          WRITE_GRADIENT(7, dv, VEC_V, at, at4, dv_value)
        }
      }
    }
  }
}
