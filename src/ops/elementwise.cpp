// Arithmetic with broadcasting; see elementwise.h.
#include "ops/elementwise.h"

#include <algorithm>

#include "ops/internal.h"

namespace llmtool::ops {
namespace {

/// Strides of an operand of shape `shape`, contiguous, 0 where it is broadcast.
void strides(const Shape& shape, std::uint32_t (&out)[4]) {
  const auto dims = shape.padded();
  std::uint32_t step = 1;
  for (std::size_t d = 4; d-- > 0;) {
    out[d] = dims[d] == 1 ? 0 : step;
    step *= dims[d];
  }
}

BroadcastParams broadcast_params(const Shape& a, const Shape& b, const Shape& y, std::uint32_t accumulate) {
  BroadcastParams p{};
  p.n = u32(y.numel());
  std::ranges::copy(y.padded(), p.shape);
  strides(a, p.a_stride);
  strides(b, p.b_stride);
  p.accumulate = accumulate;
  return p;
}

/// y = f(a, b), without the graph.
template <KernelId id>
Tensor binary(const char* op, const Tensor& a, const Tensor& b) {
  Device& device = operands(op, {a, b});
  const Shape shape = broadcast(op, a.shape(), b.shape());
  Tensor y = Tensor::empty(device, shape);
  launch<id>(device, {a.view(), b.view(), y.view()}, broadcast_params(a.shape(), b.shape(), shape, 0));
  return y;
}

/// Sends f(u, v), in the result's shape, to input `input` of shape `shape`.
template <KernelId id>
void send(Backward& back, int input, const Shape& shape, const Tensor& u, const Tensor& v) {
  send_summed(back, input, shape, [&](const View& into, std::uint32_t accumulate) {
    launch<id>(back.device(), {u.view(), v.view(), into},
               broadcast_params(u.shape(), v.shape(), back.grad().shape(), accumulate));
  });
}

/// Sends scale * dy to input `input` of shape `shape`.
void send_scaled(Backward& back, int input, const Shape& shape, float scale) {
  if (!back.wants(input)) return;
  const Tensor& dy = back.grad();
  if (scale == 1.0F && shape.numel() == dy.numel()) {
    back.pass(input, dy.alias(0, shape));
    return;
  }
  const GradTarget target = back.target(input);
  if (shape.numel() == dy.numel()) {
    launch<KernelId::affine>(back.device(), {dy.view(), target.view()},
                             {u32(dy.numel()), scale, 0.0F, target.accumulate});
  } else {
    launch_sum_to(back.device(), dy.view(), dy.shape(), target.view(), shape, scale, target.accumulate);
  }
}

/// f(u, v) of tensors whose result shape is that of the running operation.
template <KernelId id>
Tensor inner(const Backward& back, const Tensor& u, const Tensor& v) {
  Tensor y = Tensor::empty(back.device(), back.grad().shape());
  launch<id>(back.device(), {u.view(), v.view(), y.view()},
             broadcast_params(u.shape(), v.shape(), y.shape(), 0));
  return y;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  return record("add", binary<KernelId::add>("add", a, b), {a, b},
                [sa = a.shape(), sb = b.shape()](Backward& back) {
                  send_scaled(back, 0, sa, 1.0F);
                  send_scaled(back, 1, sb, 1.0F);
                });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  return record("sub", binary<KernelId::sub>("sub", a, b), {a, b},
                [sa = a.shape(), sb = b.shape()](Backward& back) {
                  send_scaled(back, 0, sa, 1.0F);
                  send_scaled(back, 1, sb, -1.0F);
                });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  return record("mul", binary<KernelId::mul>("mul", a, b), {a, b},
                [sa = a.shape(), sb = b.shape(), a_kept = b.requires_grad() ? Saved(a) : Saved(),
                 b_kept = a.requires_grad() ? Saved(b) : Saved()](Backward& back) {
                  if (back.wants(0)) send<KernelId::mul>(back, 0, sa, back.grad(), b_kept.get());
                  if (back.wants(1)) send<KernelId::mul>(back, 1, sb, back.grad(), a_kept.get());
                });
}

Tensor div(const Tensor& a, const Tensor& b) {
  Tensor y = binary<KernelId::div>("div", a, b);
  return record("div", y, {a, b},
                [sa = a.shape(), sb = b.shape(), b_kept = Saved(b), y_kept = Saved(y)](Backward& back) {
                  if (back.wants(0)) send<KernelId::div>(back, 0, sa, back.grad(), b_kept.get());
                  if (!back.wants(1)) return;
                  // db = -(dy * y / b), summed where b was broadcast.
                  const Tensor dy_y = inner<KernelId::mul>(back, back.grad(), y_kept.get());
                  const Tensor minus_db = inner<KernelId::div>(back, dy_y, b_kept.get());
                  const GradTarget target = back.target(1);
                  launch_sum_to(back.device(), minus_db.view(), minus_db.shape(), target.view(), sb, -1.0F,
                                target.accumulate);
                });
}

Tensor pow(const Tensor& a, const Tensor& b) {
  return record("pow", binary<KernelId::pow>("pow", a, b), {a, b},
                [sa = a.shape(), sb = b.shape(), a_kept = Saved(a), b_kept = Saved(b)](Backward& back) {
                  if (back.wants(0)) {
                    const Tensor slope = inner<KernelId::pow_da>(back, a_kept.get(), b_kept.get());
                    send<KernelId::mul>(back, 0, sa, back.grad(), slope);
                  }
                  if (back.wants(1)) {
                    const Tensor slope = inner<KernelId::pow_db>(back, a_kept.get(), b_kept.get());
                    send<KernelId::mul>(back, 1, sb, back.grad(), slope);
                  }
                });
}

Tensor pow(const Tensor& x, float p) {
  Device& device = operands("pow", {x});
  Tensor y = Tensor::empty(device, x.shape());
  const std::uint32_t n = u32(x.numel());
  launch<KernelId::pow_scalar>(device, {x.view(), y.view()}, {n, p, 0.0F, 0});
  return record("pow", y, {x}, [n, p, x_kept = Saved(x)](Backward& back) {
    const GradTarget target = back.target(0);
    launch<KernelId::pow_scalar_backward>(back.device(),
                                          {x_kept.get().view(), back.grad().view(), target.view()},
                                          {n, p, 0.0F, target.accumulate});
  });
}

Tensor affine(const Tensor& x, float scale, float shift) {
  Device& device = operands("affine", {x});
  Tensor y = Tensor::empty(device, x.shape());
  launch<KernelId::affine>(device, {x.view(), y.view()}, {u32(x.numel()), scale, shift, 0});
  return record("affine", y, {x},
                [shape = x.shape(), scale](Backward& back) { send_scaled(back, 0, shape, scale); });
}

}  // namespace llmtool::ops
