// Softmax over the last dimension; see softmax.h.
#include "ops/softmax.h"

#include "ops/internal.h"

namespace llmtool::ops {
namespace {

template <KernelId forward, KernelId backward>
Tensor over_rows(const char* op, const Tensor& x) {
  Device& device = operands(op, {x});
  require_last_dimension(op, x);
  Tensor y = Tensor::empty(device, x.shape());
  const std::uint32_t rows = u32(x.shape().rows());
  const std::uint32_t cols = u32(x.shape().cols());
  launch<forward>(device, {x.view(), y.view()}, {rows, cols, 0});
  return record(op, y, {x}, [rows, cols, kept = Saved(y)](Backward& back) {
    const GradTarget dx = back.target(0);
    launch<backward>(back.device(), {kept.get().view(), back.grad().view(), dx.view()},
                     {rows, cols, dx.accumulate});
  });
}

}  // namespace

Tensor softmax(const Tensor& x) {
  return over_rows<KernelId::softmax, KernelId::softmax_backward>("softmax", x);
}

Tensor log_softmax(const Tensor& x) {
  return over_rows<KernelId::log_softmax, KernelId::log_softmax_backward>("log_softmax", x);
}

}  // namespace llmtool::ops
