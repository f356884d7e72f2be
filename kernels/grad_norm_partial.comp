#version 450
// grad_norm_partial: sums of squares of equal parts of the gradients, as pairs of floats (GradNormPartialParams).
// A group a part; what does not fit a float is infinite. window[0]: elements of a part, where the launch was cut.
#extension GL_GOOGLE_include_directive : require
#define PARAMS GradNormPartialParams
#include "launch.glsl"
#include "math.glsl"
#include "double_float.glsl"

READS(0, float, gradients);
UPDATES(1, float, partials);

void main() {
  const uint size = placement.window[0] != 0u ? placement.window[0] : (p.n + p.groups - 1u) / p.groups;
  for (uint part = gl_WorkGroupID.x; part < p.groups; part += gl_NumWorkGroups.x) {
    const uint begin = min(p.n, part * size), end = min(p.n, begin + size);
    DoubleFloat sum = DoubleFloat(0.0, 0.0);
    for (uint i = begin + gl_LocalInvocationID.x; i < end; i += gl_WorkGroupSize.x) {
      sum = add(sum, square(AT(0, gradients, i)));
    }
    sum = reduce_sum(sum);
    if (gl_LocalInvocationID.x == 0u) {
      AT(1, partials, 2u * (p.first + part)) = sum.high;
      AT(1, partials, 2u * (p.first + part) + 1u) = sum.low;
    }
  }
}
