#version 450
// permute: y (contiguous, `shape`) [i] = x[sum i_d * x_stride[d]] (PermuteParams). A piece of a cut launch may be
// a block of y that is not contiguous: then window holds the strides of y.
#extension GL_GOOGLE_include_directive : require
#define PARAMS PermuteParams
#include "launch.glsl"
#include "strided.glsl"

READS(0, float, x);
UPDATES(1, float, y);

void main() {
  const bool blocked = placement.window[3] != 0u;
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const uvec4 at = COORDINATES(i, p.shape);
    const float value = AT(0, x, OFFSET(at, p.x_stride));
    const uint to = blocked ? OFFSET(at, placement.window) : i;
    AT(1, y, to) = p.accumulate != 0u ? AT(1, y, to) + value : value;
  }
}
