#version 450
// expand: y (contiguous, `shape`) = scale * x broadcast from out_shape (ReduceParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS ReduceParams
#include "launch.glsl"
#include "strided.glsl"

READS(0, float, x);
UPDATES(1, float, y);

/// The stride of x along a dimension: 0 where it is repeated.
uint stride_of(uint d, uint inner) { return p.out_shape[d] == 1u ? 0u : inner; }

void main() {
  const uint plane = p.out_shape[2] * p.out_shape[3];
  const uint stride[4] = uint[4](stride_of(0u, p.out_shape[1] * plane), stride_of(1u, plane),
                                 stride_of(2u, p.out_shape[3]), stride_of(3u, 1u));
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const uvec4 at = COORDINATES(i, p.shape);
    const float value = p.scale * AT(0, x, OFFSET(at, stride));
    AT(1, y, i) = p.accumulate != 0u ? AT(1, y, i) + value : value;
  }
}
