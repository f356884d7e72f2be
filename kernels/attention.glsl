// What the tiled attention kernels share: the arguments q, k and v, how threads and tiles are laid out, tiles of
// rows in shared memory, products of two tiles, and dropout (AttentionParams). The including shader defines
// STEP, the binding of StepParams, and its further arguments.
//
// Threads are ACROSS x DOWN. A block of queries is QUERIES rows, a block of keys KEYS rows; in a tile of queries
// x keys a thread owns the rows y + i * DOWN and the columns x + j * ACROSS, in a tile of rows x head_size the
// rows y + i * DOWN and the vec4s x + j * ACROSS. A row of q, k, v or of a gradient is PITCH vec4s in shared
// memory; an odd number, so that threads that read the same vec4 of neighbouring rows meet no bank twice. What
// is beyond head_size, tokens or keys is 0 there.
//
// Masks: a score that the query does not see is -1e30 and its weight exactly 0. Never -inf: inf - inf is NaN.
#extension GL_EXT_control_flow_attributes : require
#define PARAMS AttentionParams
#include "launch.glsl"
#include "philox.glsl"
#include "step_words.glsl"

layout(constant_id = 1) const uint HEAD = 64;  // head_size
layout(constant_id = 2) const uint QUERIES = 32;
layout(constant_id = 3) const uint KEYS = 32;
layout(constant_id = 4) const uint ACROSS = 8;
layout(constant_id = 5) const uint DOWN = 16;  // ACROSS * DOWN equals constant 0
// Bits 0 .. 3: q (and dq), k (and dk), v (and dv), out (or dout) may be accessed as vec4. Bit 4: dropout.
layout(constant_id = 6) const uint FLAGS = 0;

const uint THREADS = ACROSS * DOWN;
const uint HEAD4 = (HEAD + 3) / 4;
const uint PITCH = HEAD4 | 1u;
const uint VECS = (HEAD4 + ACROSS - 1) / ACROSS;  // vec4s of a row that a thread owns
const uint QUERY_ROWS = (QUERIES + DOWN - 1) / DOWN;
const uint KEY_COLS = (KEYS + ACROSS - 1) / ACROSS;
const uint VEC_Q = 1u, VEC_K = 2u, VEC_V = 4u, VEC_OUT = 8u;
#define BATCH(flag) ((FLAGS & (flag)) != 0u ? 4 : 1)
const bool DROPOUT = (FLAGS & 16u) != 0u;
const float HIDDEN = -1e30;

READS(0, float, q);
READS(1, float, k);
READS(2, float, v);
READS(STEP, uint, step_params);
layout(set = 0, binding = 0, std430) readonly buffer BoundVecQ { vec4 q_vec[]; };
layout(set = 0, binding = 1, std430) readonly buffer BoundVecK { vec4 k_vec[]; };
layout(set = 0, binding = 2, std430) readonly buffer BoundVecV { vec4 v_vec[]; };

// read_<name>(at, left): elements at .. at + 3 of an argument at binding i, of which `left`, at least one, are
// left in the row; 0 beyond.
#define READER(i, name, flag)                                                               \
  vec4 read_##name(uint at, uint left) {                                                    \
    if ((FLAGS & (flag)) != 0u) return name##_vec[(SHIFT(i) + at) / 4];                     \
    const uvec4 each = SHIFT(i) + at + min(uvec4(0, 1, 2, 3), uvec4(left - 1));             \
    return mix(vec4(0.0), vec4(name[each.x], name[each.y], name[each.z], name[each.w]),     \
               greaterThan(uvec4(left), uvec4(0, 1, 2, 3)));                                \
  }
READER(0, q, VEC_Q)
READER(1, k, VEC_K)
READER(2, v, VEC_V)

// Fills a tile with the rows first .. first + count - 1 of an argument whose row r begins at base + r * stride;
// zeros from row `end` on. Loads that would be outside are made elsewhere in the argument. Where loads are short
// code (vec4), four are under way at a time.
#define FILL(tile, count, name, flag, base, stride, first, end, factor)                                         \
  [[dont_unroll]] for (uint e0 = gl_LocalInvocationID.x; e0 < (count) * HEAD4; e0 += BATCH(flag) * THREADS) {  \
    vec4 part[BATCH(flag)];                                                                                     \
    [[unroll]] for (uint l = 0; l < BATCH(flag); ++l) {                                                         \
      const uint e = e0 + l * THREADS, row = (first) + e / HEAD4, at4 = e % HEAD4;                              \
      const bool inside = row < (end);                                                                          \
      part[l] = (factor) * read_##name((base) + (inside ? row * (stride) : 0) + 4 * at4, HEAD - 4 * at4);       \
      if (!inside) part[l] = vec4(0.0);                                                                         \
    }                                                                                                           \
    [[unroll]] for (uint l = 0; l < BATCH(flag); ++l) {                                                         \
      const uint e = e0 + l * THREADS;                                                                          \
      if (e < (count) * HEAD4) tile[e / HEAD4 * PITCH + e % HEAD4] = part[l];                                   \
    }                                                                                                           \
  }

float add_dot(vec4 a, vec4 b, float sum) { return fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, fma(a.w, b.w, sum)))); }

// sums[i * KEY_COLS + j] += row (y + i * DOWN) of a tile of queries times row (x + j * ACROSS) of a tile of keys.
// Rows beyond a block repeat its last one; what they give is not used.
#define ADD_SCORES(sums, query_tile, key_tile, x, y)                                                      \
  [[dont_unroll]] for (uint at4 = 0; at4 < HEAD4; ++at4) {                                                \
    vec4 of_query[QUERY_ROWS];                                                                            \
    [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {                                                    \
      of_query[i] = query_tile[min(y + i * DOWN, QUERIES - 1) * PITCH + at4];                             \
    }                                                                                                     \
    [[unroll]] for (uint j = 0; j < KEY_COLS; ++j) {                                                      \
      const vec4 of_key = key_tile[min(x + j * ACROSS, KEYS - 1) * PITCH + at4];                          \
      [[unroll]] for (uint i = 0; i < QUERY_ROWS; ++i) {                                                  \
        sums[i * KEY_COLS + j] = add_dot(of_query[i], of_key, sums[i * KEY_COLS + j]);                    \
      }                                                                                                   \
    }                                                                                                     \
  }

// The first element of a row of q, of k and v, and of out.
uint query_at(uint b, uint h) { return b * p.q_batch + h * HEAD; }
uint key_at(uint b, uint g) { return b * p.kv_batch + g * HEAD; }
uint out_at(uint b, uint h) { return b * p.tokens * p.heads * HEAD + h * HEAD; }
uint stats_at(uint b, uint h, uint t) { return ((b * p.heads + h) * p.tokens + t) * 2; }

uvec2 mul64_32(uvec2 a, uint b) {
  const uvec2 low = mul64(a.x, b);
  return uvec2(low.x, low.y + a.y * b);
}
// The dropout index of query 0 and key 0 of a head.
uvec2 draw_of_head(uint b, uint h) {
  const uvec2 sample_ = add64(uvec2(p.sample0, 0), uvec2(b, 0));
  const uvec2 head = add64(mul64_32(sample_, p.heads), uvec2(h, 0));
  return mul64_32(mul64_32(head, p.tokens), p.keys);
}
// What the probability of key j is multiplied by for query t: drop_scale or 0.
float kept(uvec2 head_draw, uint t, uint j) {
  const uvec2 index = add64(head_draw, add64(mul64(t, p.keys), uvec2(j, 0)));
  const uvec2 key = uvec2(AT(STEP, step_params, step_dropout_key0), AT(STEP, step_params, step_dropout_key1));
  const uint word = philox_word(index, p.stream, AT(STEP, step_params, step_step), key);
  return word >= p.drop_threshold ? p.drop_scale : 0.0;
}
// The same for keys j .. j + 3, from one or two Philox blocks.
vec4 kept4(uvec2 head_draw, uint t, uint j) {
  const uvec2 index = add64(head_draw, add64(mul64(t, p.keys), uvec2(j, 0)));
  const uvec2 key = uvec2(AT(STEP, step_params, step_dropout_key0), AT(STEP, step_params, step_dropout_key1));
  const uint skip = index.x % 4, step = AT(STEP, step_params, step_step);
  const uvec2 block = uvec2((index.x >> 2) | (index.y << 30), index.y >> 2);
  const uvec2 next_block = add64(block, uvec2(1, 0));
  const uvec4 words = philox_block(uvec4(block, p.stream, step), key);
  uvec4 next = words;
  if (skip != 0) next = philox_block(uvec4(next_block, p.stream, step), key);
  const uvec4 drawn = skip == 0   ? words
                      : skip == 1 ? uvec4(words.yzw, next.x)
                      : skip == 2 ? uvec4(words.zw, next.xy)
                                  : uvec4(words.w, next.xyz);
  return mix(vec4(0.0), vec4(p.drop_scale), greaterThanEqual(drawn, uvec4(p.drop_threshold)));
}
