// What the two attention gradients share: arguments 3 and 4, and the weight of a key and the gradient of its
// score, made again from the saved log-sum-exp (Dao et al., "FlashAttention", 2022):
//   weight = exp(score - log-sum-exp), d_score = weight * (kept * (dout . v) - delta).
#define STEP 5
#include "attention.glsl"

READS(3, float, stats);
READS(4, float, dout);
layout(set = 0, binding = 4, std430) readonly buffer BoundVecDout { vec4 dout_vec[]; };
READER(4, dout, VEC_OUT)

// For a pair that the query does not see, or that does not exist, both are 0. `factor` is what dropout multiplies
// the weight by.
struct Pair {
  float weight;  // with dropout
  float d_score;
};
Pair pair_of(float score, float d_weight, float log_sum, float delta, float factor, uint t, uint j) {
  if (t >= p.tokens || j > p.position0 + t) return Pair(0.0, 0.0);
  const float weight = exp(score - log_sum);
  return Pair(weight * factor, weight * (factor * d_weight - delta));
}

// Writes four elements of a row of a gradient (argument i), or adds to them.
#define WRITE_GRADIENT(i, name, flag, at, at4, value)                                                    \
  if ((FLAGS & (flag)) != 0u) {                                                                          \
    const uint at_vec = (SHIFT(i) + (at)) / 4 + (at4);                                                   \
    if ((at4) < HEAD4) name##_vec[at_vec] = p.accumulate != 0u ? name##_vec[at_vec] + value : value;     \
  } else {                                                                                               \
    [[dont_unroll]] for (uint e = (at4) * 4; e < min((at4) * 4 + 4, HEAD); ++e) {                        \
      AT(i, name, (at) + e) = p.accumulate != 0u ? AT(i, name, (at) + e) + value.x : value.x;            \
      value = value.yzwx;                                                                                \
    }                                                                                                    \
  }
