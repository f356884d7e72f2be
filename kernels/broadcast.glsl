// The elementwise kernels of two operands with broadcasting: y[i] = F(a, b), added to y with accumulate
// (BroadcastParams). F is the shader's.
#define PARAMS BroadcastParams
#include "launch.glsl"
#include "math.glsl"
#include "strided.glsl"

READS(0, float, a);
READS(1, float, b);
UPDATES(2, float, y);

void main() {
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const uvec4 at = COORDINATES(i, p.shape);
    const float u = AT(0, a, OFFSET(at, p.a_stride));
    const float v = AT(1, b, OFFSET(at, p.b_stride));
    const float value = F(u, v);
    AT(2, y, i) = p.accumulate != 0u ? AT(2, y, i) + value : value;
  }
}
