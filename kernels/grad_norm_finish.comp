#version 450
// grad_norm_finish: from the partial sums of squares to the norm, the factor that clips it, and whether the step
// is finite (GradNormFinishParams). One group.
#extension GL_GOOGLE_include_directive : require
#define PARAMS GradNormFinishParams
#include "launch.glsl"
#include "math.glsl"
#include "double_float.glsl"
#include "step_words.glsl"

READS(0, float, partials);
READS(1, float, step_params);
UPDATES(2, float, stats);

void main() {
  DoubleFloat sum = DoubleFloat(0.0, 0.0);
  for (uint i = gl_LocalInvocationID.x; i < p.count; i += gl_WorkGroupSize.x) {
    sum = add(sum, DoubleFloat(AT(0, partials, 2u * i), AT(0, partials, 2u * i + 1u)));
  }
  sum = reduce_sum(sum);
  if (gl_LocalInvocationID.x == 0u) {
    const float norm = root(sum.high);
    const float clip = AT(1, step_params, step_grad_clip);
    const bool finite = is_finite(norm) && is_finite(AT(2, stats, stats_loss));
    float factor = 1.0;
    if (clip > 0.0) factor = min(1.0, quotient(clip, norm + 1e-6));
    AT(2, stats, stats_grad_norm) = norm;
    AT(2, stats, stats_clip_scale) = finite ? factor : 0.0;
    AT(2, stats, stats_non_finite) = finite ? 0.0 : 1.0;
  }
}
