// The derivatives of the elementwise kernels of one operand: dx[i] = dy[i] * SLOPE(saved[i]), added to dx with
// accumulate. SLOPE is the shader's; `saved` is what the forward kept (UnaryParams).
#define PARAMS UnaryParams
#include "launch.glsl"
#include "math.glsl"

READS(0, float, saved);
READS(1, float, dy);
UPDATES(2, float, dx);

void main() {
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const float value = AT(1, dy, i) * SLOPE(AT(0, saved, i));
    AT(2, dx, i) = p.accumulate != 0u ? AT(2, dx, i) + value : value;
  }
}
