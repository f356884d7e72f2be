// Dropout with a computed mask; see dropout.h.
#include "ops/dropout.h"

#include <cmath>

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {

std::uint32_t drop_threshold(const char* op, const Dropout& dropout) {
  if (!(dropout.p >= 0.0F && dropout.p < 1.0F)) {
    throw request_error(cat("[", op, "] dropout must be at least 0 and below 1, is ", dropout.p));
  }
  if (dropout.p == 0.0F) return 0;
  LLMTOOL_CHECK(dropout.step_params.defined(), "[", op, "] dropout without StepParams");
  return static_cast<std::uint32_t>(std::lround(static_cast<double>(dropout.p) * 4294967296.0));
}

float drop_scale(const Dropout& dropout) noexcept {
  return static_cast<float>(1.0 / (1.0 - static_cast<double>(dropout.p)));
}

Tensor dropout(const Tensor& x, const Dropout& dropout) {
  const std::uint32_t threshold = drop_threshold("dropout", dropout);
  if (threshold == 0) return x;
  Device& device = operands("dropout", {x, dropout.step_params});
  const std::int64_t samples = x.shape().rank() == 0 ? 1 : x.shape()[0];
  const DropoutParams params{u32(x.numel()),
                             u32(x.numel() / samples),
                             u32(dropout.sample0),
                             dropout.stream,
                             threshold,
                             drop_scale(dropout),
                             0};
  Tensor y = Tensor::empty(device, x.shape());
  launch<KernelId::dropout>(device, {x.view(), dropout.step_params.view(), y.view()}, params);
  return record("dropout", y, {x}, [params, step = Saved(dropout.step_params)](Backward& back) {
    const GradTarget dx = back.target(0);
    DropoutParams p = params;
    p.accumulate = dx.accumulate;
    launch<KernelId::dropout>(back.device(), {back.grad().view(), step.get().view(), dx.view()}, p);
  });
}

}  // namespace llmtool::ops
