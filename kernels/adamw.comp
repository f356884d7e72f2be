#version 450
// adamw: AdamW with the gradient scaled for clipping, decay for the first n_decay elements only; nothing changes
// where the step was not finite (OptimizerParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS OptimizerParams
#include "launch.glsl"
#include "math.glsl"
#include "step_words.glsl"

UPDATES(0, float, value);
READS(1, float, gradient);
UPDATES(2, float, first);
UPDATES(3, float, second);
READS(4, float, step_params);
READS(5, float, stats);

void main() {
  if (AT(5, stats, stats_non_finite) != 0.0) return;
  const float clip = AT(5, stats, stats_clip_scale);
  const float rate = AT(4, step_params, step_learning_rate);
  const float rate1 = rate * AT(4, step_params, step_bias_correction1);
  const float correction2 = AT(4, step_params, step_bias_correction2);
  const float decay = rate * p.weight_decay;
  const float rest1 = 1.0 - p.beta1, rest2 = 1.0 - p.beta2;
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const float g = AT(1, gradient, i) * clip;
    const float m = fma(p.beta1, AT(2, first, i), rest1 * g);
    const float v = fma(p.beta2, AT(3, second, i), rest2 * (g * g));
    float w = AT(0, value, i);
    if (i < p.n_decay) w = fma(-decay, w, w);
    AT(0, value, i) = w - quotient(rate1 * m, root(v * correction2) + p.eps);
    AT(2, first, i) = m;
    AT(3, second, i) = v;
  }
}
