#version 450
// sum_to: y = scale * the sum of x over the dimensions where out_shape is 1 and shape is not (ReduceParams).
// A group works on `across` neighbouring outputs, each with (threads / across) partial sums that meet in a tree:
// 1 for long rows, the whole group for sums of a few terms, in between for columns, so that neighbouring threads
// read neighbouring elements. A partial sum keeps what rounding lost, so that millions of terms are summed as
// well as tens. The plan joins dimensions: two are summed at most.
// Where window[0] is above 0 the terms are cut into parts of so many: part gl_WorkGroupID.y of output o goes to
// y[part * outputs + o], and a second dispatch sums the parts, so that a few long sums keep a whole device busy.
#extension GL_GOOGLE_include_directive : require
#define PARAMS ReduceParams
#include "launch.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint across = 1u;

READS(0, float, x);
UPDATES(1, float, y);

shared float partial[gl_WorkGroupSize.x];

void main() {
  // Of x: strides, and for the summed dimensions the sizes and strides of the inner and the outer one.
  const uint stride[4] = uint[4](p.shape[1] * p.shape[2] * p.shape[3], p.shape[2] * p.shape[3], p.shape[3], 1u);
  uint terms = 1u, inner_size = 1u, inner_stride = 0u, outer_stride = 0u;
  for (int d = 3; d >= 0; --d) {
    if (p.out_shape[d] == p.shape[d]) continue;
    if (terms == 1u) {
      inner_size = p.shape[d];
      inner_stride = stride[d];
    } else {
      outer_stride = stride[d];
    }
    terms *= p.shape[d];
  }
  const uint outputs = p.out_shape[0] * p.out_shape[1] * p.out_shape[2] * p.out_shape[3];
  const uint along = gl_WorkGroupSize.x / across;
  const uint column = gl_LocalInvocationID.x % across, lane = gl_LocalInvocationID.x / across;

  const uint size = placement.window[0];
  const uint begin = size * gl_WorkGroupID.y, end = size == 0u ? terms : min(terms, begin + size);
  const uint part_at = outputs * gl_WorkGroupID.y;

  const uint tiles = (outputs - 1u) / across + 1u;
  for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += gl_NumWorkGroups.x) {
    const uint o = tile * across + column;
    precise float sum = 0.0;
    precise float lost = 0.0;
    if (o < outputs) {
      uint first = 0u, rest = o;
      for (int d = 3; d >= 0; --d) {
        const uint size = p.out_shape[d], next = rest / size;
        if (size == p.shape[d]) first += (rest - next * size) * stride[d];
        rest = next;
      }
      const bool one = outer_stride == 0u;
      // Eight terms a turn: loads that do not wait for each other, and few turns, since one software driver
      // ends all loops of a thread after 65,535.
      for (uint r = begin + lane; r < end; r += 8u * along) {
        float term[8];
        for (uint j = 0u; j < 8u; ++j) {
          const uint at = r + j * along;
          const uint outer = one ? 0u : at / inner_size;
          term[j] = at < end ? AT(0, x, first + outer * outer_stride + (at - outer * inner_size) * inner_stride) : 0.0;
        }
        for (uint j = 0u; j < 8u; ++j) {
          // Kahan's sum; an infinity must not turn what is lost into NaN.
          precise float corrected = term[j] - lost;
          precise float next = sum + corrected;
          lost = (next - sum) - corrected;
          if (!is_finite(lost)) lost = 0.0;
          sum = next;
        }
      }
    }
    barrier();  // the tile before has been read
    partial[gl_LocalInvocationID.x] = sum;
    barrier();
    for (uint half_lanes = along / 2u; half_lanes > 0u; half_lanes /= 2u) {
      if (lane < half_lanes) {
        partial[gl_LocalInvocationID.x] += partial[gl_LocalInvocationID.x + half_lanes * across];
      }
      barrier();
    }
    if (lane == 0u && o < outputs) {
      const float value = p.scale * partial[column];
      AT(1, y, part_at + o) = p.accumulate != 0u ? AT(1, y, part_at + o) + value : value;
    }
  }
}
