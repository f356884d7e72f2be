#version 450
// dropout: y = keep ? x * scale : 0 (DropoutParams); one Philox word an element. Elements are numbered through
// all samples, so element i of the launch has index sample0 * per_sample + i. A piece of a cut launch starts at
// element window[0] of the whole.
#extension GL_GOOGLE_include_directive : require
#define PARAMS DropoutParams
#include "launch.glsl"
#include "philox.glsl"
#include "step_words.glsl"

READS(0, float, x);
READS(1, uint, step_params);
UPDATES(2, float, y);

void main() {
  const uvec2 first = add64(mul64(p.sample0, p.per_sample), uvec2(placement.window[0], 0u));
  const uint step = AT(1, step_params, step_step);
  const uvec2 key = uvec2(AT(1, step_params, step_dropout_key0), AT(1, step_params, step_dropout_key1));
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const uint word = philox_word(add64(first, uvec2(i, 0u)), p.stream, step, key);
    const float value = word >= p.threshold ? AT(0, x, i) * p.scale : 0.0;
    AT(2, y, i) = p.accumulate != 0u ? AT(2, y, i) + value : value;
  }
}
