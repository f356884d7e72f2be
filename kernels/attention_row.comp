#version 450
// attention_row: the forward pass (AttentionParams) of single queries, as in decoding, and of heads too large
// for tiles. A workgroup takes a query and goes through its keys THREADS at a time: first a thread is a key and
// makes its score, then a thread is a vec4 of the head and adds up every PARTS-th value; the parts are added in
// their order at the end. Keys and values are read once.
// Where window[0] is above 0 the keys are cut into parts of so many, one for each gl_WorkGroupID.y: a part's sum
// of weighted values goes to out as it is, its largest score and the sum of its weights to stats, each after those
// of the parts before; kernels/attention_combine.comp makes one of them (as in Dao, Haziza, Massa and Sizov,
// "Flash-Decoding for long-context inference", 2023).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define STEP 3
#include "attention.glsl"

WRITES(4, float, out_);
WRITES(5, float, stats);

const uint PARTS = THREADS > HEAD4 ? THREADS / HEAD4 : 1;
const uint OWNED = (HEAD4 + THREADS - 1) / THREADS;  // vec4s of the head that a thread adds up
const uint FOLD = 16;                                // values of a thread in the first step of a reduction
const uint FOLDED = (THREADS + FOLD - 1) / FOLD;

shared vec4 query[HEAD4];
shared float values[THREADS];
shared float folded[FOLDED];
shared vec4 parts[THREADS];

// The largest, or the sum, of one value of every thread, for all threads, in a fixed order.
float reduced(float value, bool largest) {
  const uint id = gl_LocalInvocationID.x;
  values[id] = value;
  barrier();
  if (id < FOLDED) {
    float all = values[id];
    for (uint i = id + FOLDED; i < THREADS; i += FOLDED) all = largest ? max(all, values[i]) : all + values[i];
    folded[id] = all;
  }
  barrier();
  float all = folded[0];
  for (uint i = 1; i < FOLDED; ++i) all = largest ? max(all, folded[i]) : all + folded[i];
  return all;
}

void main() {
  const uint id = gl_LocalInvocationID.x;
  const uint part = id / HEAD4;
  const uint all_rows = p.batch * p.heads * p.tokens;
  const uint part_keys = placement.window[0], part_row = gl_WorkGroupID.y * all_rows;
  const uint first_key = gl_WorkGroupID.y * part_keys;
  for (uint task = gl_WorkGroupID.x; task < all_rows; task += gl_NumWorkGroups.x) {
    const uint t = p.tokens - 1 - task / (p.batch * p.heads);
    const uint b = task % (p.batch * p.heads) / p.heads, h = task % p.heads;
    const uint kv_base = key_at(b, h / (p.heads / p.kv_heads));
    const uvec2 draw = DROPOUT ? draw_of_head(b, h) : uvec2(0);
    barrier();  // the last task's reads are done
    for (uint at4 = id; at4 < HEAD4; at4 += THREADS) {
      query[at4] = p.scale * read_q(query_at(b, h) + t * p.q_row + 4 * at4, HEAD - 4 * at4);
    }
    barrier();

    float largest = HIDDEN, total = 0.0;
    vec4 outs[OWNED];
    [[unroll]] for (uint i = 0; i < OWNED; ++i) outs[i] = vec4(0.0);
    uint seen = p.position0 + t + 1;
    if (part_keys != 0) seen = min(seen, first_key + part_keys);
    for (uint key0 = first_key; key0 < seen; key0 += THREADS) {
      float score = HIDDEN;
      if (key0 + id < seen) {
        score = 0.0;
        [[dont_unroll]] for (uint at4 = 0; at4 < HEAD4; ++at4) {
          const vec4 key = read_k(kv_base + (key0 + id) * p.kv_row + 4 * at4, HEAD - 4 * at4);
          score = add_dot(query[at4], key, score);
        }
      }
      const float now = max(largest, reduced(score, true));
      const float shrink = exp(largest - now);
      largest = now;
      float weight = key0 + id < seen ? exp(score - now) : 0.0;
      total = total * shrink + weight;
      if (DROPOUT && key0 + id < seen) weight *= kept(draw, t, key0 + id);
      values[id] = weight;  // all have read them: `reduced` ends with reads of `folded`
      barrier();
      const uint count = min(THREADS, seen - key0);
      [[unroll]] for (uint i = 0; i < OWNED; ++i) {
        const uint at4 = id - part * HEAD4 + i * THREADS;
        outs[i] *= shrink;
        if (part < PARTS && at4 < HEAD4) {
          for (uint c = part; c < count; c += PARTS) {
            const vec4 value = read_v(kv_base + (key0 + c) * p.kv_row + 4 * at4, HEAD - 4 * at4);
            outs[i] = fma(vec4(values[c]), value, outs[i]);
          }
        }
      }
      barrier();  // the weights have been read
    }

    const float sum = reduced(total, false);
    const uint stats_base = part_row * 2 + stats_at(b, h, t);
    if (id == 0) {
      AT(5, stats, stats_base) = part_keys != 0 ? largest : largest + log(sum);
      if (part_keys != 0) AT(5, stats, stats_base + 1) = sum;
    }
    const uint base = part_row * HEAD + out_at(b, h) + t * p.heads * HEAD;
    [[unroll]] for (uint i = 0; i < OWNED; ++i) {
      parts[id] = outs[i];
      barrier();
      const uint at4 = id + i * THREADS;
      if (id < HEAD4 && at4 < HEAD4) {
        vec4 all = parts[id];
        for (uint from = 1; from < PARTS; ++from) all += parts[from * HEAD4 + id];
        if (part_keys == 0) all *= 1.0 / sum;
        [[dont_unroll]] for (uint e = at4 * 4; e < min(at4 * 4 + 4, HEAD); ++e) {
          AT(4, out_, base + e) = all.x;
          all = all.yzwx;
        }
      }
      barrier();
    }
  }
}
