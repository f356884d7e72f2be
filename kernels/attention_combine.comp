#version 450
// attention_combine (partials, part_stats, out, stats): the end of attention whose keys were cut into window[0]
// parts (kernels/attention_row.comp): weighs each part's sum of values by exp(its largest score - the largest of
// all) and divides by the sum of all weights, in the order of the parts (AttentionParams). partials is (parts,
// batch, tokens, heads * head_size), part_stats (parts, batch, heads, tokens, 2) = (largest score, sum of weights);
// a part without keys that a query sees has a sum of 0. A thread makes an element of out.
#extension GL_GOOGLE_include_directive : require
#define PARAMS AttentionParams
#include "launch.glsl"

READS(0, float, partials);
READS(1, float, part_stats);
WRITES(2, float, out_);
WRITES(3, float, stats);

void main() {
  const uint rows = p.batch * p.heads * p.tokens, parts = placement.window[0];
  for (uint e = FLAT_BEGIN; e < rows * p.head_size; e += FLAT_STEP) {
    const uint at = e % p.head_size, h = e / p.head_size % p.heads, bt = e / p.head_size / p.heads;
    const uint stats_at = ((bt / p.tokens * p.heads + h) * p.tokens + bt % p.tokens) * 2;
    float largest = AT(1, part_stats, stats_at);
    for (uint part = 1; part < parts; ++part) {
      largest = max(largest, AT(1, part_stats, part * rows * 2 + stats_at));
    }
    float total = 0.0, value = 0.0;
    for (uint part = 0; part < parts; ++part) {
      const uint of_part = part * rows * 2 + stats_at;
      const float weight = exp(AT(1, part_stats, of_part) - largest);
      total = fma(weight, AT(1, part_stats, of_part + 1), total);
      value = fma(weight, AT(0, partials, part * rows * p.head_size + e), value);
    }
    AT(2, out_, e) = value / total;
    if (at == 0) AT(3, stats, stats_at) = largest + log(total);
  }
}
