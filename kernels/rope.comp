#version 450
// rope: pairs of each head turned by the angle of their position, table (cos, sin); heads from `rotated` on are
// copied (RopeParams). A thread a pair.
#extension GL_GOOGLE_include_directive : require
#define PARAMS RopeParams
#include "launch.glsl"

READS(0, float, x);
READS(1, float, table);
UPDATES(2, float, y);

void put(uint i, float value) { AT(2, y, i) = p.accumulate != 0u ? AT(2, y, i) + value : value; }

void main() {
  const uint size = p.head_size / 2u;
  const uint n = p.batch * p.tokens * p.heads * size;
  for (uint i = FLAT_BEGIN; i < n; i += FLAT_STEP) {
    const uint head = i / size, pair = i - head * size;  // head: counted through batch and tokens
    const uint token = head / p.heads;
    const bool adjacent = p.style == LLMTOOL_ROPE_ADJACENT;
    const uint first = head * p.head_size + (adjacent ? 2u * pair : pair);
    const uint second = first + (adjacent ? 1u : size);
    float u = AT(0, x, first), v = AT(0, x, second);
    if (head - token * p.heads < p.rotated) {
      const uint angle = ((p.position0 + token % p.tokens) * size + pair) * 2u;
      const float c = AT(1, table, angle);
      const float s = p.inverse != 0u ? -AT(1, table, angle + 1u) : AT(1, table, angle + 1u);
      const float turned = u * c - v * s;
      v = u * s + v * c;
      u = turned;
    }
    put(first, u);
    put(second, v);
  }
}
