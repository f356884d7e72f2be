// Philox 4x32-10 for many counters at a time, a vector of them in each register (base/rng.h has the
// definition); the bits are those of base. Compiled per target.
#if defined(LLMTOOL_CPU_PHILOX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_PHILOX_INL
#undef LLMTOOL_CPU_PHILOX_INL
#else
#define LLMTOOL_CPU_PHILOX_INL
#endif

#include "cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// What dropout masks are drawn from: the key and the two fixed counter words.
struct MaskSource {
  std::uint32_t key0, key1, stream, step;
};
inline MaskSource mask_source(const View& step_params, std::uint32_t stream) noexcept {
  StepParams p;
  std::memcpy(&p, step_params.block->host + step_params.offset, sizeof p);
  return {p.dropout_key0, p.dropout_key1, stream, p.step};
}

constexpr std::int64_t philox_groups = 2;  // vectors at a time, so that their chains overlap
constexpr std::int64_t philox_width = philox_groups * lanes;  // blocks at a time
constexpr std::int64_t philox_words = 4 * philox_width;

using VU = hn::Vec<DU>;

/// low and high half of x * factor, per lane.
HWY_INLINE void multiply_wide(VU x, VU factor, VU& low, VU& high) {
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(x)} * hn::GetLane(factor);
  low = hn::Set(DU(), static_cast<std::uint32_t>(product));
  high = hn::Set(DU(), static_cast<std::uint32_t>(product >> 32));
#else
  // Products of the even and of the odd lanes, each as wide as two lanes.
  const hn::RepartitionToWide<DU> wide;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(DU(), hn::ShiftRight<32>(hn::BitCast(wide, x))), factor);
  low = hn::OddEven(hn::BitCast(DU(), hn::ShiftLeft<32>(odd)), hn::BitCast(DU(), even));
  high = hn::OddEven(hn::BitCast(DU(), odd), hn::BitCast(DU(), hn::ShiftRight<32>(even)));
#endif
}

/// words[0 .. philox_words): those of elements 4 * block and the following.
HWY_INLINE void philox_blocks(const MaskSource& source, std::uint64_t block, std::uint32_t* words) {
  const VU factor0 = hn::Set(DU(), 0xD2511F53u), factor1 = hn::Set(DU(), 0xCD9E8D57u);
  VU c0[philox_groups], c1[philox_groups], c2[philox_groups], c3[philox_groups];
  for (std::int64_t g = 0; g < philox_groups; ++g) {
    const std::uint64_t first = block + static_cast<std::uint64_t>(g * lanes);
    const auto low = static_cast<std::uint32_t>(first), high = static_cast<std::uint32_t>(first >> 32);
    c0[g] = hn::Iota(DU(), low);
    // Lanes behind an overflow of the low word have the next high one.
    c1[g] = hn::IfThenElse(hn::Lt(c0[g], hn::Set(DU(), low)), hn::Set(DU(), high + 1), hn::Set(DU(), high));
    c2[g] = hn::Set(DU(), source.stream);
    c3[g] = hn::Set(DU(), source.step);
  }
  std::uint32_t k0 = source.key0, k1 = source.key1;
  for (int round = 0; round < 10; ++round) {
    const VU key0 = hn::Set(DU(), k0), key1 = hn::Set(DU(), k1);
    for (std::int64_t g = 0; g < philox_groups; ++g) {
      VU low0, high0, low1, high1;
      multiply_wide(c0[g], factor0, low0, high0);
      multiply_wide(c2[g], factor1, low1, high1);
      c0[g] = hn::Xor(hn::Xor(high1, c1[g]), key0);
      c1[g] = low1;
      c2[g] = hn::Xor(hn::Xor(high0, c3[g]), key1);
      c3[g] = low0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (std::int64_t g = 0; g < philox_groups; ++g)
    hn::StoreInterleaved4(c0[g], c1[g], c2[g], c3[g], DU(), words + 4 * g * lanes);
}

/// factors[i] = word of element first + i >= threshold ? scale : 0, for i in [0, count).
HWY_INLINE void mask_factors(const MaskSource& source, std::uint64_t first, std::int64_t count,
                             std::uint32_t threshold, float scale, float* factors) {
  HWY_ALIGN std::uint32_t words[philox_words];
  std::int64_t skip = static_cast<std::int64_t>(first % 4);
  std::uint64_t block = first / 4;
  for (std::int64_t done = 0; done < count; block += philox_width, skip = 0) {
    philox_blocks(source, block, words);
    const std::int64_t take = std::min(count - done, philox_words - skip);
    std::int64_t i = 0;
    for (; i + lanes <= take; i += lanes) {
      const auto dropped = hn::Lt(hn::LoadU(DU(), words + skip + i), hn::Set(DU(), threshold));
      store(hn::IfThenZeroElse(hn::RebindMask(DF(), dropped), set(scale)), factors + done + i);
    }
    for (; i < take; ++i) factors[done + i] = words[skip + i] >= threshold ? scale : 0.0f;
    done += take;
  }
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
