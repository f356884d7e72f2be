// The multiply-adds per second that the machine can do; see peak.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/peak.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {

/// `rounds` steps of 12 chains: enough to fill two pipes of latency 4 or 5. Returns a value that depends on
/// all.
float fma_chains(std::int64_t rounds) noexcept {
  const VF factor = set(0.999999f), term = set(1e-6f);
  VF c0 = set(0.1f), c1 = set(0.2f), c2 = set(0.3f), c3 = set(0.4f), c4 = set(0.5f), c5 = set(0.6f);
  VF c6 = set(0.7f), c7 = set(0.8f), c8 = set(0.9f), c9 = set(1.0f), c10 = set(1.1f), c11 = set(1.2f);
  for (std::int64_t i = 0; i < rounds; ++i) {
    c0 = hn::MulAdd(c0, factor, term);
    c1 = hn::MulAdd(c1, factor, term);
    c2 = hn::MulAdd(c2, factor, term);
    c3 = hn::MulAdd(c3, factor, term);
    c4 = hn::MulAdd(c4, factor, term);
    c5 = hn::MulAdd(c5, factor, term);
    c6 = hn::MulAdd(c6, factor, term);
    c7 = hn::MulAdd(c7, factor, term);
    c8 = hn::MulAdd(c8, factor, term);
    c9 = hn::MulAdd(c9, factor, term);
    c10 = hn::MulAdd(c10, factor, term);
    c11 = hn::MulAdd(c11, factor, term);
  }
  const VF sum =
      hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)), hn::Add(hn::Add(c4, c5), hn::Add(c6, c7)));
  return sum_lanes(hn::Add(sum, hn::Add(hn::Add(c8, c9), hn::Add(c10, c11))));
}
std::int64_t fma_flops_per_round() noexcept { return 12 * 2 * lanes; }

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <atomic>
#include <chrono>

#include "cpu/peak.h"

namespace llmtool::cpu {
namespace {

struct Loop {
  float (*run)(std::int64_t) noexcept;
  std::int64_t (*flops)() noexcept;
};

Loop loop_of(SimdLevel level) {
  switch (level) {
#if HWY_TARGETS & HWY_SSE4
    case SimdLevel::sse4:
      return {N_SSE4::fma_chains, N_SSE4::fma_flops_per_round};
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdLevel::avx2:
      return {N_AVX2::fma_chains, N_AVX2::fma_flops_per_round};
#endif
#if HWY_TARGETS & HWY_AVX3
    case SimdLevel::avx512:
      return {N_AVX3::fma_chains, N_AVX3::fma_flops_per_round};
#endif
#if HWY_TARGETS & HWY_NEON
    case SimdLevel::neon:
      return {N_NEON::fma_chains, N_NEON::fma_flops_per_round};
#endif
#if HWY_TARGETS & HWY_SCALAR
    case SimdLevel::scalar:
      return {N_SCALAR::fma_chains, N_SCALAR::fma_flops_per_round};
#endif
    default:
      return {HWY_STATIC_DISPATCH(fma_chains), HWY_STATIC_DISPATCH(fma_flops_per_round)};
  }
}

double seconds_of(ThreadPool& pool, const Loop& loop, std::int64_t rounds) {
  std::atomic<float> sink{0.0f};
  const auto start = std::chrono::steady_clock::now();
  pool.parallel_for(pool.size(),
                    [&](std::int64_t, int) { sink.store(loop.run(rounds), std::memory_order_relaxed); });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double measure_fma_peak_gflops(ThreadPool& pool, SimdLevel level, double milliseconds) {
  const Loop loop = loop_of(level);
  std::int64_t rounds = 1 << 14;
  double seconds = seconds_of(pool, loop, rounds);
  while (seconds < milliseconds * 1e-4) {
    rounds *= 2;
    seconds = seconds_of(pool, loop, rounds);
  }
  rounds = static_cast<std::int64_t>(static_cast<double>(rounds) * milliseconds * 1e-3 / seconds) + 1;
  seconds = seconds_of(pool, loop, rounds);
  return static_cast<double>(rounds) * static_cast<double>(loop.flops()) * pool.size() / seconds * 1e-9;
}

double measure_fma_peak_gflops(ThreadPool& pool) {
  return measure_fma_peak_gflops(pool, choose_level_from_environment());
}

}  // namespace llmtool::cpu
#endif
