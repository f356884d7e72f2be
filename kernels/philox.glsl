// Random words without state: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", 2011). The word of an element depends on its 64-bit index, a stream, the step and a key alone, so
// a backward pass draws the mask of its forward again, and any device draws the same. 64-bit numbers are pairs
// (low, high) of uints, since 64-bit integers are optional on devices. Not here: which index an element has
// (DropoutParams, AttentionParams).
#ifndef LLMTOOL_PHILOX_GLSL
#define LLMTOOL_PHILOX_GLSL

/// a + b modulo 2^64.
uvec2 add64(uvec2 a, uvec2 b) {
  uint carry;
  const uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

/// The full product of two 32-bit numbers.
uvec2 mul64(uint a, uint b) {
  uint high, low;
  umulExtended(a, b, high, low);
  return uvec2(low, high);
}

/// The four words of one counter: ten rounds.
uvec4 philox_block(uvec4 counter, uvec2 key) {
  for (int round = 0; round < 10; ++round) {
    const uvec2 p0 = mul64(0xD2511F53u, counter.x);
    const uvec2 p1 = mul64(0xCD9E8D57u, counter.z);
    counter = uvec4(p1.y ^ counter.y ^ key.x, p1.x, p0.y ^ counter.w ^ key.y, p0.x);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

/// The word of element `index` (low, high): word index % 4 of the block with counter {index / 4 (low, high),
/// stream, step}.
uint philox_word(uvec2 index, uint stream, uint step, uvec2 key) {
  const uvec4 counter = uvec4((index.x >> 2) | (index.y << 30), index.y >> 2, stream, step);
  const uvec4 words = philox_block(counter, key);
  const uint which = index.x & 3u;
  return which < 2u ? (which == 0u ? words.x : words.y) : (which == 2u ? words.z : words.w);
}

#endif
