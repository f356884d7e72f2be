// Philox 4x32-10 for many counters at a time (base/rng.h has the definition). Plain loops over lanes that
// compilers turn into vector code; the bits are those of base. Compiled per target.
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

constexpr int philox_width = 16;  // blocks at a time
constexpr std::int64_t philox_words = 4 * philox_width;

/// words[0..64): the words of elements 4*block .. 4*block + 63.
inline void philox_blocks(const MaskSource& source, std::uint64_t block, std::uint32_t* words) {
  std::uint32_t c0[philox_width], c1[philox_width], c2[philox_width], c3[philox_width];
  for (int i = 0; i < philox_width; ++i) {
    const std::uint64_t counter = block + static_cast<std::uint64_t>(i);
    c0[i] = static_cast<std::uint32_t>(counter);
    c1[i] = static_cast<std::uint32_t>(counter >> 32);
    c2[i] = source.stream;
    c3[i] = source.step;
  }
  std::uint32_t k0 = source.key0, k1 = source.key1;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < philox_width; ++i) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0[i];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<std::uint32_t>(p1);
      c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < philox_width; ++i) {
    words[4 * i] = c0[i];
    words[4 * i + 1] = c1[i];
    words[4 * i + 2] = c2[i];
    words[4 * i + 3] = c3[i];
  }
}

/// factors[i] = word of element first + i >= threshold ? scale : 0, for i in [0, count).
inline void mask_factors(const MaskSource& source, std::uint64_t first, std::int64_t count,
                         std::uint32_t threshold, float scale, float* factors) {
  std::uint32_t words[philox_words];
  std::int64_t skip = static_cast<std::int64_t>(first % 4);
  std::uint64_t block = first / 4;
  for (std::int64_t done = 0; done < count; block += philox_width, skip = 0) {
    philox_blocks(source, block, words);
    const std::int64_t take = std::min(count - done, philox_words - skip);
    for (std::int64_t i = 0; i < take; ++i) factors[done + i] = words[skip + i] >= threshold ? scale : 0.0f;
    done += take;
  }
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
