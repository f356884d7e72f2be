// Gradients of a norm's gain and bias: sums over rows, in blocks of rows whose partial sums column_sum.comp adds
// in order. A group takes `across` neighbouring columns of a block (threads read neighbouring elements) with
// threads/across rows at a time. Constant 1: across, constant 2: rows of a block. Block b writes to b * cols.
// NORMALISED(r, c) is the shader's; BIAS(o, value) stores the second sum, or nothing.
layout(constant_id = 1) const uint across = 1u;
layout(constant_id = 2) const uint block_rows = 1u;

shared vec2 partial[gl_WorkGroupSize.x];

void main() {
  const uint along = gl_WorkGroupSize.x / across;
  const uint lane = gl_LocalInvocationID.x / across, column = gl_LocalInvocationID.x % across;
  const uint blocks = (p.rows + block_rows - 1u) / block_rows;
  const uint c = gl_WorkGroupID.x * across + column;
  for (uint block = gl_WorkGroupID.y; block < blocks; block += gl_NumWorkGroups.y) {
    vec2 sum = vec2(0.0);
    if (c < p.cols) {
      const uint end = min(p.rows, (block + 1u) * block_rows);
      for (uint r = block * block_rows + lane; r < end; r += along) {
        const float d = AT(2, dy, r * p.cols + c);
        sum = vec2(fma(d, NORMALISED(r, c), sum.x), sum.y + d);
      }
    }
    barrier();  // the block before has been read
    partial[gl_LocalInvocationID.x] = sum;
    barrier();
    for (uint s = along / 2u; s > 0u; s /= 2u) {
      if (lane < s) partial[gl_LocalInvocationID.x] += partial[gl_LocalInvocationID.x + s * across];
      barrier();
    }
    if (lane == 0u && c < p.cols) {
      const uint o = block * p.cols + c;
      const vec2 total = partial[column];
      AT(3, dgain, o) = p.accumulate != 0u ? AT(3, dgain, o) + total.x : total.x;
      BIAS(o, total.y);
    }
  }
}
