// softmax and log_softmax over the last dimension, and their derivatives.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/softmax.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

void softmax(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const RowsParams*>(params);
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    float* to = y + r * cols;
    const float sum = row_exp(x + r * cols, row_max(x + r * cols, cols), to, cols);
    const VF scale = set(1.0f / sum);
    map_range<false>(
        0, cols, to, [scale](VF v) HWY_ATTR { return hn::Mul(v, scale); }, to);
  });
}

void log_softmax(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const RowsParams*>(params);
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const float max = row_max(x + r * cols, cols);
    const float sum = row_exp(x + r * cols, max, nullptr, cols);
    const VF m = set(max), log_sum = set(static_cast<float>(std::log(static_cast<double>(sum))));
    map_range<false>(
        0, cols, y + r * cols, [m, log_sum](VF v) HWY_ATTR { return hn::Sub(hn::Sub(v, m), log_sum); },
        x + r * cols);
  });
}

// dx = y (dy - sum(y dy))
void softmax_backward(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const RowsParams*>(params);
  const float* y = floats(views[0]);
  const float* dy = floats(views[1]);
  float* dx = floats(views[2]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const Row a{y + r * cols, cols}, b{dy + r * cols, cols};
    const VF dot = set(row_sum(cols, [&](std::int64_t c) HWY_ATTR { return hn::Mul(a.at(c), b.at(c)); }));
    const auto f = [dot](VF v, VF d) HWY_ATTR { return hn::Mul(v, hn::Sub(d, dot)); };
    p.accumulate != 0 ? map_range<true>(0, cols, dx + r * cols, f, a.p, b.p)
                      : map_range<false>(0, cols, dx + r * cols, f, a.p, b.p);
  });
}

// dx = dy - e^y sum(dy)
void log_softmax_backward(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const RowsParams*>(params);
  const float* y = floats(views[0]);
  const float* dy = floats(views[1]);
  float* dx = floats(views[2]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const Row b{dy + r * cols, cols};
    const VF sum = set(row_sum(cols, [&](std::int64_t c) HWY_ATTR { return b.at(c); }));
    const auto f = [sum](VF v, VF d) HWY_ATTR { return hn::NegMulAdd(exp(v), sum, d); };
    p.accumulate != 0 ? map_range<true>(0, cols, dx + r * cols, f, y + r * cols, b.p)
                      : map_range<false>(0, cols, dx + r * cols, f, y + r * cols, b.p);
  });
}

}  // namespace

void register_softmax(KernelRow& row) {
  row[KernelId::softmax] = softmax;
  row[KernelId::log_softmax] = log_softmax;
  row[KernelId::softmax_backward] = softmax_backward;
  row[KernelId::log_softmax_backward] = log_softmax_backward;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_softmax)
#endif
