#version 450
// sgd: gradient descent with momentum, where a buffer is given, and decay for the first n_decay elements; nothing
// changes where the step was not finite (OptimizerParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS OptimizerParams
#include "launch.glsl"
#include "step_words.glsl"

UPDATES(0, float, value);
READS(1, float, gradient);
UPDATES(2, float, momentum);
READS(3, float, step_params);
READS(4, float, stats);

void main() {
  if (AT(4, stats, stats_non_finite) != 0.0) return;
  const float clip = AT(4, stats, stats_clip_scale);
  const float rate = AT(3, step_params, step_learning_rate);
  const bool has_momentum = PRESENT(2);
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const float w = AT(0, value, i);
    float g = AT(1, gradient, i) * clip;
    if (i < p.n_decay) g = fma(p.weight_decay, w, g);
    if (has_momentum) {
      g = fma(p.beta1, AT(2, momentum, i), g);
      AT(2, momentum, i) = g;
    }
    AT(0, value, i) = fma(-rate, g, w);
  }
}
