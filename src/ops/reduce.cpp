// Sums and means; see reduce.h.
#include "ops/reduce.h"

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

/// scale * x, seen in the shape `from`, summed down to the shape `to` and given out in the shape `out`.
Tensor reduced(const char* op, const Tensor& x, const Shape& from, const Shape& to, const Shape& out,
               float scale) {
  Device& device = operands(op, {x});
  Tensor y = Tensor::empty(device, out);
  launch_sum_to(device, x.view(), from, y.view(), to, scale, 0);
  return record(op, y, {x}, [from, to, scale](Backward& back) {
    const GradTarget dx = back.target(0);
    launch_expand(back.device(), back.grad().view(), to, dx.view(), from, scale, dx.accumulate);
  });
}

Tensor over_last(const char* op, const Tensor& x, bool keepdim, bool is_mean) {
  require_last_dimension(op, x);
  const Shape& shape = x.shape();
  std::vector<std::int64_t> out(shape.dims().begin(), shape.dims().end());
  out.back() = 1;
  if (!keepdim) out.pop_back();
  const float scale = is_mean ? static_cast<float>(1.0 / static_cast<double>(shape.cols())) : 1.0F;
  return reduced(op, x, {shape.rows(), shape.cols()}, {shape.rows(), 1}, Shape(out), scale);
}

}  // namespace

Tensor sum(const Tensor& x) { return reduced("sum", x, {x.numel()}, {1}, {}, 1.0F); }

Tensor mean(const Tensor& x) {
  return reduced("mean", x, {x.numel()}, {1}, {}, static_cast<float>(1.0 / static_cast<double>(x.numel())));
}

Tensor sum_last(const Tensor& x, bool keepdim) { return over_last("sum_last", x, keepdim, false); }
Tensor mean_last(const Tensor& x, bool keepdim) { return over_last("mean_last", x, keepdim, true); }

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (!(broadcast("sum_to", x.shape(), shape) == x.shape())) {
    throw request_error(cat("[sum_to] ", shape.str(), " does not broadcast to ", x.shape().str()));
  }
  return reduced("sum_to", x, x.shape(), shape, shape, 1.0F);
}

}  // namespace llmtool::ops
