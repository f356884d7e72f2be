#version 450
// attention_delta (out, dout, stats): stats[1] = the sum over head_size of out * dout (AttentionParams). A row
// is one head of one token; a team of LANES threads takes a row, its threads neighbouring elements, and adds up
// in shared memory, half by half.
#extension GL_GOOGLE_include_directive : require
#define PARAMS AttentionParams
#include "launch.glsl"

layout(constant_id = 1) const uint LANES = 16;
layout(constant_id = 2) const uint TEAMS = 8;  // LANES * TEAMS equals constant 0

READS(0, float, out_);
READS(1, float, dout);
UPDATES(2, float, stats);

shared float sums[LANES * TEAMS];

void main() {
  const uint id = gl_LocalInvocationID.x, lane = id % LANES, team = id / LANES;
  const uint rows = p.batch * p.tokens * p.heads;
  for (uint row0 = gl_WorkGroupID.x * TEAMS; row0 < rows; row0 += gl_NumWorkGroups.x * TEAMS) {
    const uint row = row0 + team;
    float sum = 0.0;
    if (row < rows) {
      const uint base = row * p.head_size;
      for (uint i = lane; i < p.head_size; i += LANES) {
        sum = fma(AT(0, out_, base + i), AT(1, dout, base + i), sum);
      }
    }
    sums[id] = sum;
    barrier();
    for (uint half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
      if (lane < half_lanes) sums[id] += sums[id + half_lanes];
      barrier();
    }
    if (lane == 0 && row < rows) {
      const uint h = row % p.heads, t = row / p.heads % p.tokens, b = row / p.heads / p.tokens;
      AT(2, stats, ((b * p.heads + h) * p.tokens + t) * 2 + 1) = sums[id];
    }
    barrier();
  }
}
