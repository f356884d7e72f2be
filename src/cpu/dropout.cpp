// dropout: elements kept by a counter-based draw, the same at any number of threads and on every device.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dropout.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

void dropout(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const DropoutParams*>(params);
  const float* x = floats(views[0]);
  const MaskSource source = mask_source(views[1], p.stream);
  float* y = floats(views[2]);
  // Elements are numbered through: sample0 samples lie before the first.
  const std::uint64_t first = std::uint64_t{p.sample0} * p.per_sample;
  constexpr std::int64_t part = 256;
  in_chunks(context, p.n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    HWY_ALIGN float factors[part];
    // A dropped element is 0 even where x is infinite or NaN, as the definition says.
    const auto apply = [](VF v, VF f)
                           HWY_ATTR { return hn::IfThenZeroElse(hn::Eq(f, zero()), hn::Mul(v, f)); };
    for (std::int64_t at = begin; at < end; at += part) {
      const std::int64_t count = std::min(part, end - at);
      mask_factors(source, first + static_cast<std::uint64_t>(at), count, p.threshold, p.scale, factors);
      p.accumulate != 0
          ? map_range<true>(0, count, y + at, apply, x + at, static_cast<const float*>(factors))
          : map_range<false>(0, count, y + at, apply, x + at, static_cast<const float*>(factors));
    }
  });
}

}  // namespace

void register_dropout(KernelRow& row) { row[KernelId::dropout] = dropout; }

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_dropout)
#endif
