// Vector basics of all kernel sources: loads and stores of part of a vector, loops over elements. Compiled
// once per SIMD target (simd_target.h comes first). A tail runs the same code as the body on a vector padded
// with zeros, so that an element's bits do not depend on where a row ends. Not here: mathematical functions
// (math-inl.h).
#if defined(LLMTOOL_CPU_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_SIMD_INL
#undef LLMTOOL_CPU_SIMD_INL
#else
#define LLMTOOL_CPU_SIMD_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
constexpr std::int64_t lanes = static_cast<std::int64_t>(HWY_LANES(float));

HWY_INLINE VF load(const float* p) { return hn::LoadU(DF(), p); }
HWY_INLINE void store(VF v, float* p) { hn::StoreU(v, DF(), p); }
HWY_INLINE VF set(float x) { return hn::Set(DF(), x); }
HWY_INLINE VF zero() { return hn::Zero(DF()); }

/// The first `count` (below lanes) floats at p, then zeros. Reads nothing behind them.
HWY_INLINE VF load_part(const float* p, std::int64_t count) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(DF(), static_cast<std::size_t>(count)), DF(), p);
#else
  HWY_ALIGN float buffer[lanes] = {};
  for (std::int64_t i = 0; i < std::min(count, lanes); ++i) buffer[i] = p[i];
  return hn::Load(DF(), buffer);
#endif
}
/// Stores the first `count` (below lanes) elements only.
HWY_INLINE void store_part(VF v, float* p, std::int64_t count) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(DF(), static_cast<std::size_t>(count)), DF(), p);
#else
  HWY_ALIGN float buffer[lanes];
  hn::Store(v, DF(), buffer);
  for (std::int64_t i = 0; i < std::min(count, lanes); ++i) p[i] = buffer[i];
#endif
}
/// v with the elements from `count` on replaced by `other`.
HWY_INLINE VF keep_first(VF v, std::int64_t count, VF other) {
  return hn::IfThenElse(hn::FirstN(DF(), static_cast<std::size_t>(count)), v, other);
}
HWY_INLINE float sum_lanes(VF v) { return hn::GetLane(hn::SumOfLanes(DF(), v)); }
HWY_INLINE float max_lanes(VF v) { return hn::GetLane(hn::MaxOfLanes(DF(), v)); }
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

constexpr std::int64_t chunks_of(std::int64_t n, std::int64_t chunk) { return (n + chunk - 1) / chunk; }

/// body(begin, end, worker) over [0, n) in chunks of `chunk`; one chunk runs on the calling thread.
template <class Body>
void in_chunks(CpuContext& context, std::int64_t n, std::int64_t chunk, const Body& body) {
  context.pool().parallel_for(chunks_of(n, chunk), [&](std::int64_t c, int worker) HWY_ATTR {
    body(c * chunk, std::min(n, (c + 1) * chunk), worker);
  });
}

/// Rows per chunk for rows of `cols` elements: about 16k elements, at least one row.
constexpr std::int64_t rows_per_chunk(std::int64_t cols) {
  return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, cols));
}

template <class Body>
void in_rows(CpuContext& context, std::int64_t rows, std::int64_t cols, const Body& body) {
  in_chunks(context, rows, rows_per_chunk(cols),
            [&](std::int64_t begin, std::int64_t end, int worker) HWY_ATTR {
              for (std::int64_t r = begin; r < end; ++r) body(r, worker);
            });
}

constexpr std::int64_t flat_chunk = 16384;

template <bool accumulate, class F, class... In>
HWY_INLINE void map_range(std::int64_t begin, std::int64_t end, float* y, const F& f, const In*... x) {
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    VF v = f(load(x + i)...);
    if constexpr (accumulate) v = hn::Add(load(y + i), v);
    store(v, y + i);
  }
  if (i < end) {
    const std::int64_t left = end - i;
    VF v = f(load_part(x + i, left)...);
    if constexpr (accumulate) v = hn::Add(load_part(y + i, left), v);
    store_part(v, y + i, left);
  }
}

/// y[i] = f(x[i]...), or y[i] += with accumulate; f maps vectors. y may be one of the inputs.
template <class F, class... In>
void map(CpuContext& context, std::int64_t n, bool accumulate, float* y, const F& f, const In*... x) {
  in_chunks(context, n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    if (accumulate) {
      map_range<true>(begin, end, y, f, x...);
    } else {
      map_range<false>(begin, end, y, f, x...);
    }
  });
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
