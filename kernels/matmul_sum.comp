#version 450
// matmul_sum (partials, bias, pre, c): the end of a matrix product whose inner dimension was cut: adds up the
// partial products of every element of c in their order, then does what follows a product (MatmulParams).
// partials is (batch, window[0], m, n), contiguous. A thread makes an element; neighbours lie along n.
#extension GL_GOOGLE_include_directive : require
#define PARAMS MatmulParams
#include "launch.glsl"

READS(0, float, partials);
READS(1, float, bias);
WRITES(2, float, pre);
UPDATES(3, float, c);

#define BIAS 1
#define PRE 2
#define C 3
#include "matmul_epilogue.glsl"

void main() {
  const uint size = p.m * p.n, parts = placement.window[0];
  for (uint e = FLAT_BEGIN; e < p.batch0 * p.batch1 * size; e += FLAT_STEP) {
    const uint batch = e / size, element = e % size;
    uint at = batch * parts * size + element;
    float sum = 0.0;
    for (uint part = 0; part < parts; ++part) {
      sum += AT(0, partials, at);
      at += size;
    }
    const uint i = element / p.n, j = element % p.n;
    if (PRESENT(BIAS)) sum += AT(BIAS, bias, j);
    finish(sum, batch_offset(batch, p.c_batch[0], p.c_batch[1]) + i * p.ldc + j, p.activation);
  }
}
