// rope: rotary position embedding (Su et al., "RoFormer", 2021), on adjacent pairs or on halves.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rope.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// One head: pair i is (x[i*step], x[i*step + distance]).
template <bool accumulate>
void turn(const float* x, const float* table, float sign, bool adjacent, std::int64_t half, float* y) {
  std::int64_t i = 0;
  const VF turn_sign = set(sign);
  for (; i + lanes <= half; i += lanes) {
    VF u, v, cosine, sine;
    hn::LoadInterleaved2(DF(), table + 2 * i, cosine, sine);
    sine = hn::Mul(sine, turn_sign);
    if (adjacent) {
      hn::LoadInterleaved2(DF(), x + 2 * i, u, v);
    } else {
      u = load(x + i);
      v = load(x + half + i);
    }
    VF a = hn::Sub(hn::Mul(u, cosine), hn::Mul(v, sine));
    VF b = hn::Add(hn::Mul(u, sine), hn::Mul(v, cosine));
    if (adjacent) {
      if constexpr (accumulate) {
        VF c, d;
        hn::LoadInterleaved2(DF(), y + 2 * i, c, d);
        a = hn::Add(c, a);
        b = hn::Add(d, b);
      }
      hn::StoreInterleaved2(a, b, DF(), y + 2 * i);
    } else {
      if constexpr (accumulate) {
        a = hn::Add(load(y + i), a);
        b = hn::Add(load(y + half + i), b);
      }
      store(a, y + i);
      store(b, y + half + i);
    }
  }
  // Products and sums as above: the same bits.
  const std::int64_t step = adjacent ? 2 : 1, distance = adjacent ? 1 : half;
  for (; i < half; ++i) {
    const float cosine = table[2 * i], sine = table[2 * i + 1] * sign;
    const float u = x[i * step], v = x[i * step + distance];
    const float a = u * cosine - v * sine, b = u * sine + v * cosine;
    float* to = y + i * step;
    to[0] = accumulate ? to[0] + a : a;
    to[distance] = accumulate ? to[distance] + b : b;
  }
}

template <bool accumulate>
void rotate(CpuContext& context, std::span<const View> views, const RopeParams& p) {
  const float* x = floats(views[0]);
  const float* table = floats(views[1]);
  float* y = floats(views[2]);
  const std::int64_t size = p.head_size, half = size / 2, heads = p.heads, tokens = p.tokens;
  const float sign = p.inverse != 0 ? -1.0f : 1.0f;
  in_rows(context, static_cast<std::int64_t>(p.batch) * tokens, heads * size,
          [&](std::int64_t r, int) HWY_ATTR {
            const float* angles = table + (p.position0 + r % tokens) * half * 2;
            for (std::int64_t h = 0; h < heads; ++h) {
              const std::int64_t at = (r * heads + h) * size;
              if (h < static_cast<std::int64_t>(p.rotated)) {
                turn<accumulate>(x + at, angles, sign, p.style == LLMTOOL_ROPE_ADJACENT, half, y + at);
              } else {
                map_range<accumulate>(
                    0, size, y + at, [](VF v) HWY_ATTR { return v; }, x + at);
              }
            }
          });
}

void rope(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const RopeParams*>(params);
  return p.accumulate != 0 ? rotate<true>(context, views, p) : rotate<false>(context, views, p);
}

}  // namespace

void register_rope(KernelRow& row) { row[KernelId::rope] = rope; }

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_rope)
#endif
