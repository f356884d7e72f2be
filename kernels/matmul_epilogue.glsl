// The end of a matrix product: bias, `pre`, activation, accumulation (MatmulParams). The including shader
// declares bias, pre and c at the bindings BIAS, PRE and C. Not here: where the sums come from.
#include "activations.glsl"

// What is written to c at `at` in column j for the sum `value`; c as it is now is `old`.
float finished(float value, uint j, uint at, uint activation, float old) {
  if (p.accumulate != 0u) return old + value;
  if (PRESENT(BIAS)) value += AT(BIAS, bias, j);
  if (PRESENT(PRE)) AT(PRE, pre, at) = value;
  return activate(activation, value);
}

void finish(float value, uint j, uint at, uint activation) {
  AT(C, c, at) = finished(value, j, at, activation, p.accumulate != 0u ? AT(C, c, at) : 0.0);
}

// The first element of matrix `batch` of an operand with these two batch strides.
uint batch_offset(uint batch, uint stride0, uint stride1) {
  return batch / p.batch1 * stride0 + batch % p.batch1 * stride1;
}
