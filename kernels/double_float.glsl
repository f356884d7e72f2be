// Sums in pairs of floats, about 46 bits: a value is high + low with |low| at most half a unit of high
// (Dekker, "A floating-point technique for extending the available precision", 1971; Knuth's two-sum). All of it
// is `precise`: reordering would lose what it is for. Infinity and NaN live in high, low is 0 then.
struct DoubleFloat {
  float high;
  float low;
};

DoubleFloat settle(float high, float low) {
  precise float sum = high + low;
  precise float left = low - (sum - high);
  return DoubleFloat(sum, is_finite(sum) ? left : 0.0);
}

DoubleFloat add(DoubleFloat a, DoubleFloat b) {
  precise float sum = a.high + b.high;
  precise float part = sum - a.high;
  precise float lost = (a.high - (sum - part)) + (b.high - part);
  precise float low = (a.low + b.low) + lost;
  if (!is_finite(sum)) return DoubleFloat(sum, 0.0);
  return settle(sum, low);
}

// x^2 to the last bit: x in two halves of 12 bits, whose products are exact.
DoubleFloat square(float x) {
  precise float high = x * x;
  precise float scaled = 4097.0 * x;
  precise float upper = scaled - (scaled - x);
  precise float lower = x - upper;
  precise float low = ((upper * upper - high) + 2.0 * upper * lower) + lower * lower;
  return DoubleFloat(high, is_finite(high) && is_finite(low) ? low : 0.0);
}

shared float high_lane[gl_WorkGroupSize.x];
shared float low_lane[gl_WorkGroupSize.x];

// Over the workgroup, as reduce_sum of reduce.glsl.
DoubleFloat reduce_sum(DoubleFloat value) {
  const uint t = gl_LocalInvocationID.x;
  barrier();
  high_lane[t] = value.high;
  low_lane[t] = value.low;
  barrier();
  for (uint s = gl_WorkGroupSize.x / 2u; s > 0u; s /= 2u) {
    if (t < s) {
      const DoubleFloat sum = add(DoubleFloat(high_lane[t], low_lane[t]), DoubleFloat(high_lane[t + s], low_lane[t + s]));
      high_lane[t] = sum.high;
      low_lane[t] = sum.low;
    }
    barrier();
  }
  return DoubleFloat(high_lane[0], low_lane[0]);
}
