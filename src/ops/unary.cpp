// Functions of each element; see unary.h.
#include "ops/unary.h"

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

enum class Keeps { input, result };

/// y = f(x), and dx = dy * f' from what f keeps.
template <KernelId forward, KernelId backward>
Tensor unary(const char* op, const Tensor& x, Keeps keeps) {
  Device& device = operands(op, {x});
  Tensor y = Tensor::empty(device, x.shape());
  const std::uint32_t n = u32(x.numel());
  launch<forward>(device, {x.view(), y.view()}, {n, 0.0F, 0.0F, 0});
  return record(op, y, {x}, [n, kept = Saved(keeps == Keeps::input ? x : y)](Backward& back) {
    const View dy = back.grad().view();
    const GradTarget dx = back.target(0);
    launch<backward>(back.device(), {kept.get().view(), dy, dx.view()}, {n, 0.0F, 0.0F, dx.accumulate});
  });
}

}  // namespace

Tensor exp(const Tensor& x) { return unary<KernelId::exp, KernelId::exp_backward>("exp", x, Keeps::result); }
Tensor log(const Tensor& x) { return unary<KernelId::log, KernelId::log_backward>("log", x, Keeps::input); }
Tensor sqrt(const Tensor& x) {
  return unary<KernelId::sqrt, KernelId::sqrt_backward>("sqrt", x, Keeps::result);
}
Tensor tanh(const Tensor& x) {
  return unary<KernelId::tanh, KernelId::tanh_backward>("tanh", x, Keeps::result);
}
Tensor relu(const Tensor& x) {
  return unary<KernelId::relu, KernelId::relu_backward>("relu", x, Keeps::input);
}
Tensor gelu(const Tensor& x) {
  return unary<KernelId::gelu, KernelId::gelu_backward>("gelu", x, Keeps::input);
}
Tensor gelu_exact(const Tensor& x) {
  return unary<KernelId::gelu_exact, KernelId::gelu_exact_backward>("gelu_exact", x, Keeps::input);
}
Tensor silu(const Tensor& x) {
  return unary<KernelId::silu, KernelId::silu_backward>("silu", x, Keeps::input);
}

Tensor swiglu(const Tensor& x) {
  Device& device = operands("swiglu", {x});
  require_last_dimension("swiglu", x);
  const Shape& shape = x.shape();
  if (shape.cols() % 2 != 0) {
    throw request_error(cat("[swiglu] the last dimension is gate and up, so must be even: ", shape.str()));
  }
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.back() /= 2;
  Tensor y = Tensor::empty(device, Shape(dims));
  const SwigluParams params{u32(shape.rows()), u32(dims.back()), 0};
  launch<KernelId::swiglu>(device, {x.view(), y.view()}, params);
  return record("swiglu", y, {x}, [params, kept = Saved(x)](Backward& back) {
    const GradTarget dx = back.target(0);
    launch<KernelId::swiglu_backward>(back.device(), {kept.get().view(), back.grad().view(), dx.view()},
                                      {params.rows, params.cols, dx.accumulate});
  });
}

}  // namespace llmtool::ops
