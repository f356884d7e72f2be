// The end of a matrix product: bias, `pre`, activation, accumulation (MatmulParams). The including shader
// declares pre and c at the bindings PRE and C. Not here: where the sums come from.
#include "activations.glsl"

// Element `at` of c from its sum with the bias. (Accumulation excludes a bias.)
void finish(float value, uint at, uint activation) {
  if (p.accumulate != 0u) {
    AT(C, c, at) += value;
  } else {
    if (PRESENT(PRE)) AT(PRE, pre, at) = value;
    AT(C, c, at) = activate(activation, value);
  }
}

// The first element of matrix `batch` of an operand with these two batch strides.
uint batch_offset(uint batch, uint stride0, uint stride1) {
  return batch / p.batch1 * stride0 + batch % p.batch1 * stride1;
}
