// Losses; see loss.h.
#include "ops/loss.h"

#include <algorithm>

#include "base/error.h"
#include "ops/elementwise.h"
#include "ops/internal.h"
#include "ops/reduce.h"

namespace llmtool::ops {
namespace {

void check_targets(const char* op, const Shape& x, std::int64_t vocab, const Targets& targets) {
  if (x.rows() != targets.size() || vocab != targets.limit()) {
    throw request_error(cat("[", op, "] ", x.str(), " has ", x.rows(), " rows of ", vocab,
                            " classes; the targets are ", targets.size(), " of ", targets.limit(),
                            " classes"));
  }
}

CrossEntropyParams row_params(std::int64_t rows, std::int64_t cols, bool write_grad) {
  return {u32(rows), u32(cols), ignore_index, write_grad ? 1U : 0U};
}

/// The sum of all rows' losses.
Tensor total(const Tensor& row_loss) {
  Tensor loss = Tensor::empty(row_loss.device(), {});
  launch_sum_to(row_loss.device(), row_loss.view(), row_loss.shape(), loss.view(), {}, 1.0F, 0);
  return loss;
}

void launch_product(Device& device, std::uint32_t form, const Tensor& a, const Tensor& b, const Tensor& c,
                    std::uint32_t accumulate) {
  MatmulParams p{};
  p.form = form;
  p.m = u32(c.shape()[0]);
  p.n = u32(c.shape()[1]);
  p.k = u32(form == LLMTOOL_MATMUL_TN ? a.shape()[0] : a.shape()[1]);
  p.lda = u32(a.shape()[1]);
  p.ldb = u32(b.shape()[1]);
  p.ldc = u32(c.shape()[1]);
  p.batch0 = p.batch1 = 1;
  p.accumulate = accumulate;
  launch<KernelId::matmul>(device, {a.view(), b.view(), View{}, View{}, c.view()}, p);
}

}  // namespace

Tensor mse_loss(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) {
    throw request_error(cat("[mse_loss] shapes differ: a ", a.shape().str(), ", b ", b.shape().str()));
  }
  const Tensor d = sub(a, b);
  return mean(mul(d, d));
}

Tensor cross_entropy(const Tensor& logits, const Targets& targets) {
  constexpr const char* op = "cross_entropy";
  require_last_dimension(op, logits);
  const std::int64_t rows = logits.shape().rows();
  const std::int64_t vocab = logits.shape().cols();
  check_targets(op, logits.shape(), vocab, targets);
  Device& device = operands(op, {logits, targets.scale()});
  common_device(op, {logits, targets.ids()});

  // The kernel leaves the gradient where the logits were, so it works on a copy; without a gradient it only
  // reads.
  const bool keeps = will_record({logits});
  Tensor work = logits.detach();
  if (keeps) {
    work = Tensor::empty(device, logits.shape());
    device.copy(logits.view(), work.view());
  }
  const Tensor row_loss = Tensor::empty(device, {rows});
  launch<KernelId::cross_entropy>(
      device, {work.view(), targets.ids().view(), targets.scale().view(), row_loss.view()},
      row_params(rows, vocab, keeps));
  return record(op, total(row_loss), {logits}, [work](Backward& back) {
    const GradTarget dlogits = back.target(0);
    BroadcastParams p{};
    p.n = u32(work.numel());
    std::ranges::copy(Shape{work.numel()}.padded(), p.shape);
    p.a_stride[3] = 1;
    p.accumulate = dlogits.accumulate;
    launch<KernelId::mul>(back.device(), {work.view(), back.grad().view(), dlogits.view()}, p);
  });
}

std::int64_t head_loss_chunk(std::int64_t rows, std::int64_t vocab) noexcept {
  // 4 Mi logits at a time, in whole tiles of 16 rows: enough rows to use the weights well, few enough to stay
  // small.
  constexpr std::int64_t logits = std::int64_t{4} << 20;
  const std::int64_t fitting = std::max<std::int64_t>(logits / vocab / 16, 1) * 16;
  return std::min(rows, fitting);
}

Tensor head_loss(const Tensor& x, const Tensor& weight, const Targets& targets) {
  constexpr const char* op = "head_loss";
  require_last_dimension(op, x);
  if (weight.shape().rank() != 2 || weight.shape()[1] != x.shape().cols()) {
    throw request_error(
        cat("[", op, "] inner sizes differ: x ", x.shape().str(), ", weight ", weight.shape().str()));
  }
  if (weight.requires_grad() && weight.meta()->node) {
    throw request_error(cat("[", op, "] the weight must be a leaf: its gradient is made in the forward"));
  }
  const std::int64_t rows = x.shape().rows();
  const std::int64_t in = x.shape().cols();
  const std::int64_t vocab = weight.shape()[0];
  check_targets(op, x.shape(), vocab, targets);
  Device& device = operands(op, {x, weight, targets.scale()});
  common_device(op, {x, targets.ids()});

  const bool differentiates = will_record({x, weight});
  const Tensor dx = differentiates && x.requires_grad() ? Tensor::empty(device, x.shape()) : Tensor();
  const GradTarget dw = differentiates && weight.requires_grad() ? leaf_target(weight) : GradTarget{};

  const Tensor row_loss = Tensor::empty(device, {rows});
  const std::int64_t chunk = head_loss_chunk(rows, vocab);
  const Tensor buffer = Tensor::empty(device, {chunk, vocab});
  for (std::int64_t first = 0; first < rows; first += chunk) {
    const std::int64_t n = std::min(chunk, rows - first);
    const Tensor part = x.alias(first * in, {n, in});
    const Tensor logits = buffer.alias(0, {n, vocab});
    launch_product(device, LLMTOOL_MATMUL_NT, part, weight, logits, 0);
    launch<KernelId::cross_entropy>(device,
                                    {logits.view(), targets.ids().alias(first, {n}).view(),
                                     targets.scale().view(), row_loss.alias(first, {n}).view()},
                                    row_params(n, vocab, differentiates));
    if (dx.defined())
      launch_product(device, LLMTOOL_MATMUL_NN, logits, weight, dx.alias(first * in, {n, in}), 0);
    if (dw) launch_product(device, LLMTOOL_MATMUL_TN, logits, part, dw.into, first == 0 ? dw.accumulate : 1);
  }
  const auto backward = [dx](Backward& back) {
    if (dx.defined()) back.pass(0, dx);
  };
  return record(op, total(row_loss), {x, weight}, backward, true);
}

}  // namespace llmtool::ops
