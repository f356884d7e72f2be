// swiglu and its derivative: the gated activation of a feed-forward layer (Shazeer, "GLU variants improve
// transformer", 2020).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/swiglu.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Forward {
  HWY_INLINE VF operator()(VF gate, VF up) const { return hn::Mul(silu(gate), up); }
};
struct GateGradient {
  HWY_INLINE VF operator()(VF gate, VF up, VF dy) const { return hn::Mul(hn::Mul(dy, up), silu_slope(gate)); }
};
struct UpGradient {
  HWY_INLINE VF operator()(VF gate, VF dy) const { return hn::Mul(dy, silu(gate)); }
};

template <bool accumulate>
void forward(CpuContext& context, std::span<const View> views, const SwigluParams& p) {
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const float* gate = x + r * 2 * cols;
    map_range<accumulate>(0, cols, y + r * cols, Forward{}, gate, gate + cols);
  });
}

template <bool accumulate>
void backward(CpuContext& context, std::span<const View> views, const SwigluParams& p) {
  const float* x = floats(views[0]);
  const float* dy = floats(views[1]);
  float* dx = floats(views[2]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const float* gate = x + r * 2 * cols;
    float* dgate = dx + r * 2 * cols;
    map_range<accumulate>(0, cols, dgate, GateGradient{}, gate, gate + cols, dy + r * cols);
    map_range<accumulate>(0, cols, dgate + cols, UpGradient{}, gate, dy + r * cols);
  });
}

void swiglu(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const SwigluParams*>(params);
  return p.accumulate != 0 ? forward<true>(context, views, p) : forward<false>(context, views, p);
}
void swiglu_backward(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const SwigluParams*>(params);
  return p.accumulate != 0 ? backward<true>(context, views, p) : backward<false>(context, views, p);
}

}  // namespace

void register_swiglu(KernelRow& row) {
  row[KernelId::swiglu] = swiglu;
  row[KernelId::swiglu_backward] = swiglu_backward;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_swiglu)
#endif
