#version 450
// attention_backward_q: dq of causal attention (AttentionParams). A workgroup takes a block of queries of one
// head and goes through the blocks of keys that it sees: values for the gradients of the weights, keys for the
// scores, gradients of the scores into shared memory, times keys into registers. Values and keys pass through
// the same tile. Later queries, which see more keys, are started first.
#extension GL_GOOGLE_include_directive : require
#include "attention_backward.glsl"

UPDATES(6, float, dq);
layout(set = 0, binding = 6, std430) buffer BoundVecDq { vec4 dq_vec[]; };

const uint KEYS4 = KEYS / 4;
const uint SCORE_PITCH = KEYS4 + 1;

shared vec4 query_tile[QUERIES * PITCH];
shared vec4 dout_tile[QUERIES * PITCH];
shared vec4 key_tile[KEYS * PITCH];
shared vec4 d_scores[QUERIES * SCORE_PITCH];

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
    FILL(dout_tile, QUERIES, dout, VEC_OUT, out_at(b, h), p.heads * HEAD, first, p.tokens, 1.0)
    float log_sum[QUERY_ROWS];
    float delta[QUERY_ROWS];
    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
      const uint at = stats_at(b, h, min(first + y + i * DOWN, p.tokens - 1));
      log_sum[i] = AT(3, stats, at);
      delta[i] = AT(3, stats, at + 1);
    }
    vec4 sums[QUERY_ROWS * VECS];
    [[unroll]] for (uint i = 0; i < QUERY_ROWS * VECS; ++i) sums[i] = vec4(0.0);

    const uint seen = min(p.keys, p.position0 + first + QUERIES);  // by the block's last query
    for (uint key0 = 0; key0 < seen; key0 += KEYS) {
      barrier();  // the last block of keys has been read
      FILL(key_tile, KEYS, v, VEC_V, kv_base, p.kv_row, key0, p.keys, 1.0)
      barrier();
      float d_weights[QUERY_ROWS * KEY_COLS];
      [[unroll]] for (uint i = 0; i < QUERY_ROWS * KEY_COLS; ++i) d_weights[i] = 0.0;
      ADD_SCORES(d_weights, dout_tile, key_tile, x, y)
      barrier();
      FILL(key_tile, KEYS, k, VEC_K, kv_base, p.kv_row, key0, p.keys, 1.0)
      if (DROPOUT) {  // the factors first lie where the gradients will
        [[dont_unroll]] for (uint e = gl_LocalInvocationID.x; e < QUERIES * KEYS4; e += THREADS) {
          const uint row = e / KEYS4, key4 = e % KEYS4;
          d_scores[row * SCORE_PITCH + key4] = kept4(draw, first + row, key0 + key4 * 4);
        }
      }
      barrier();
      float scores[QUERY_ROWS * KEY_COLS];
      [[unroll]] for (uint i = 0; i < QUERY_ROWS * KEY_COLS; ++i) scores[i] = 0.0;
      ADD_SCORES(scores, query_tile, key_tile, x, y)
      [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
        const uint row = y + i * DOWN;
        [[unroll]] for (uint j = 0; j < KEY_COLS; ++j) {
          const uint col = x + j * ACROSS;
          if (row < QUERIES && col < KEYS) {
            const uint at = row * SCORE_PITCH + col / 4;
            const float factor = DROPOUT ? d_scores[at][col % 4] : 1.0;
            const Pair pair = pair_of(scores[i * KEY_COLS + j], d_weights[i * KEY_COLS + j], log_sum[i],
                                      delta[i], factor, first + row, key0 + col);
            d_scores[at][col % 4] = pair.d_score;
          }
        }
      }
      barrier();
      [[dont_unroll]] for (uint key4 = 0; key4 < KEYS4; ++key4) {
        vec4 d_score[QUERY_ROWS];
        [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
          d_score[i] = d_scores[min(y + i * DOWN, QUERIES - 1) * SCORE_PITCH + key4];
        }
        [[unroll]] for (uint e = 0; e < 4; ++e) {
          [[unroll]] for (uint j = 0; j < VECS; ++j) {
            const vec4 key = key_tile[(key4 * 4 + e) * PITCH + min(x + j * ACROSS, HEAD4 - 1)];
            [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
              sums[i * VECS + j] = fma(vec4(d_score[i][e]), key, sums[i * VECS + j]);
            }
          }
        }
      }
    }

    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {
      const uint row = y + i * DOWN;
      if (row < QUERIES && first + row < p.tokens) {
        const uint at = query_at(b, h) + (first + row) * p.q_row;
        [[unroll]] for (uint j = 0; j < VECS; ++j) {
          vec4 value = p.scale * sums[i * VECS + j];
          const uint at4 = x + j * ACROSS;
          WRITE_GRADIENT(6, dq, VEC_Q, at, at4, value)
        }
      }
    }
  }
}
