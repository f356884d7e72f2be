// cross_entropy: loss and, in place of the logits, their gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cross_entropy.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

void cross_entropy(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const CrossEntropyParams*>(params);
  float* logits = floats(views[0]);
  const std::int32_t* targets = ints(views[1]);
  const float scale = *floats(views[2]);
  float* loss = floats(views[3]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    float* row = logits + r * cols;
    const std::int32_t target = targets[r];
    if (target == p.ignore_index) {
      loss[r] = 0;
      if (p.write_grad != 0) std::fill_n(row, cols, 0.0f);
      return;
    }
    const float max = row_max(row, cols), chosen = row[target];
    // The exponentials take the place of the logits, so that they are computed once.
    const float sum = row_exp(row, max, p.write_grad != 0 ? row : nullptr, cols);
    loss[r] = scale * (static_cast<float>(std::log(static_cast<double>(sum))) - (chosen - max));
    if (p.write_grad == 0) return;
    const VF f = set(scale / sum);
    map_range<false>(
        0, cols, row, [f](VF e) HWY_ATTR { return hn::Mul(e, f); }, row);
    row[target] -= scale;
  });
}

}  // namespace

void register_cross_entropy(KernelRow& row) { row[KernelId::cross_entropy] = cross_entropy; }

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_cross_entropy)
#endif
