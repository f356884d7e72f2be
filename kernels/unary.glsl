// The elementwise kernels of one operand: y[i] = F(x[i]), added to y with accumulate. F is the shader's.
#define PARAMS UnaryParams
#include "launch.glsl"
#include "math.glsl"

READS(0, float, x);
UPDATES(1, float, y);

void main() {
  for (uint i = FLAT_BEGIN; i < p.n; i += FLAT_STEP) {
    const float value = F(AT(0, x, i));
    AT(1, y, i) = p.accumulate != 0u ? AT(1, y, i) + value : value;
  }
}
