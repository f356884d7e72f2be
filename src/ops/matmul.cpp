// Products of matrices; see matmul.h.
#include "ops/matmul.h"

#include <vector>

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

/// One product: form, m, n, k and the distances between rows of a, b and c; a single matrix each.
MatmulParams product(std::uint32_t form, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                     std::int64_t ldb, std::int64_t ldc, std::uint32_t accumulate = 0) {
  MatmulParams p{};
  p.form = form;
  p.m = u32(m);
  p.n = u32(n);
  p.k = u32(k);
  p.lda = u32(lda);
  p.ldb = u32(ldb);
  p.ldc = u32(ldc);
  p.batch0 = 1;
  p.batch1 = 1;
  p.accumulate = accumulate;
  return p;
}

void launch_product(Device& device, const View& a, const View& b, const View& c, const MatmulParams& params,
                    const View& bias = {}, const View& pre = {}) {
  launch<KernelId::matmul>(device, {a, b, bias, pre, c}, params);
}

/// What a batch of products needs to know of an operand: distance between its matrices along the two leading
/// dimensions, 0 where it is broadcast.
void batch_strides(const Shape& shape, std::uint32_t (&out)[2]) {
  const auto d = shape.padded();
  const std::uint32_t matrix = d[2] * d[3];
  out[0] = d[0] == 1 ? 0 : d[1] * matrix;
  out[1] = d[1] == 1 ? 0 : matrix;
}

/// c = op(a) op(b) for every matrix of y's leading dimensions.
void launch_batched(Device& device, std::uint32_t form, const Tensor& a, const Tensor& b, const View& into,
                    const Shape& into_shape, std::uint32_t accumulate) {
  const std::int64_t m = into_shape[-2];
  const std::int64_t n = into_shape[-1];
  const std::int64_t k = form == LLMTOOL_MATMUL_TN ? a.shape()[-2] : a.shape()[-1];
  MatmulParams p = product(form, m, n, k, a.shape()[-1], b.shape()[-1], n, accumulate);
  const auto lead = into_shape.padded();
  p.batch0 = lead[0];
  p.batch1 = lead[1];
  batch_strides(a.shape(), p.a_batch);
  batch_strides(b.shape(), p.b_batch);
  batch_strides(into_shape, p.c_batch);
  launch_product(device, a.view(), b.view(), into, p);
}

/// Shape of a b: (..., M, K) x (..., K, N) with broadcast leading dimensions.
Shape product_shape(const Shape& a, const Shape& b) {
  const auto refuse = [&](const char* why) {
    return request_error(cat("[matmul] ", why, ": a ", a.str(), ", b ", b.str()));
  };
  if (a.rank() < 2 || b.rank() < 2) throw refuse("needs two dimensions at least");
  if (a[-1] != b[-2]) throw refuse("inner sizes differ");
  const Shape lead = broadcast("matmul", Shape(a.dims().first(a.dims().size() - 2)),
                               Shape(b.dims().first(b.dims().size() - 2)));
  std::vector<std::int64_t> dims(lead.dims().begin(), lead.dims().end());
  dims.push_back(a[-2]);
  dims.push_back(b[-1]);
  return Shape(dims);
}

/// Sends op(u) op(v) to input `input` of shape `shape`; summed where that was broadcast along leading
/// dimensions.
void send_product(Backward& back, int input, const Shape& shape, std::uint32_t form, const Tensor& u,
                  const Tensor& v) {
  const Shape lead(back.grad().shape().dims().first(back.grad().shape().dims().size() - 2));
  std::vector<std::int64_t> dims(lead.dims().begin(), lead.dims().end());
  dims.push_back(shape[-2]);
  dims.push_back(shape[-1]);
  const Shape full(dims);
  if (full.numel() == shape.numel()) {
    const GradTarget target = back.target(input);
    launch_batched(back.device(), form, u, v, target.view(), full, target.accumulate);
    return;
  }
  const Tensor all = Tensor::empty(back.device(), full);
  launch_batched(back.device(), form, u, v, all.view(), full, 0);
  const GradTarget target = back.target(input);
  launch_sum_to(back.device(), all.view(), full, target.view(), shape, 1.0F, target.accumulate);
}

/// (..., I) with its last extent replaced.
Shape with_cols(const Shape& shape, std::int64_t cols) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.back() = cols;
  return Shape(dims);
}

std::uint32_t kernel_activation(Activation activation) {
  switch (activation) {
    case Activation::none:
      return LLMTOOL_ACT_NONE;
    case Activation::relu:
      return LLMTOOL_ACT_RELU;
    case Activation::gelu:
      return LLMTOOL_ACT_GELU;
    case Activation::gelu_exact:
      return LLMTOOL_ACT_GELU_EXACT;
  }
  return LLMTOOL_ACT_NONE;
}

/// dy * act'(pre).
Tensor before_activation(Activation activation, const Tensor& pre, const Tensor& dy) {
  Tensor dp = Tensor::empty(dy.device(), dy.shape());
  const UnaryParams params{u32(dy.numel()), 0.0F, 0.0F, 0};
  const View views[3] = {pre.view(), dy.view(), dp.view()};
  if (activation == Activation::relu) launch<KernelId::relu_backward>(dy.device(), views, params);
  if (activation == Activation::gelu) launch<KernelId::gelu_backward>(dy.device(), views, params);
  if (activation == Activation::gelu_exact) launch<KernelId::gelu_exact_backward>(dy.device(), views, params);
  return dp;
}

void check_linear(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_last_dimension(op, x);
  const Shape& w = weight.shape();
  if (w.rank() != 2) throw request_error(cat("[", op, "] weight must be (O,I), is ", w.str()));
  if (x.shape()[-1] != w[1]) {
    throw request_error(cat("[", op, "] inner sizes differ: x ", x.shape().str(), ", weight ", w.str()));
  }
  if (bias.defined() && !(bias.shape() == Shape{w[0]})) {
    throw request_error(cat("[", op, "] bias must be (", w[0], "), is ", bias.shape().str()));
  }
}

/// The tensors as one view, where each begins where the one before ends and the device can bind the whole.
View joined(const std::vector<Tensor>& tensors) {
  View all = tensors.front().view();
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const View next = tensors[i].view();
    if (tensors[i].storage() != tensors.front().storage() || next.offset != all.offset + all.bytes) return {};
    all.bytes += next.bytes;
  }
  return all.bytes <= tensors.front().device().caps().max_binding_bytes ? all : View{};
}

/// The places of gradients first .. first + n - 1 as one view, with one way to write it; none where that
/// cannot be. `targets` gets them all, to be written in order where it cannot.
View joined_targets(Backward& back, int first, std::size_t n, std::vector<GradTarget>& targets) {
  targets.clear();
  std::vector<Tensor> places;
  for (std::size_t i = 0; i < n; ++i) {
    targets.push_back(back.target(first + static_cast<int>(i)));
    if (targets.back()) places.push_back(targets.back().into);
  }
  if (places.size() != n) return {};
  for (const GradTarget& target : targets) {
    if (target.accumulate != targets.front().accumulate) return {};
  }
  return joined(places);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Shape shape = product_shape(a.shape(), b.shape());
  Device& device = operands("matmul", {a, b});
  // One matrix b for all of a: the leading dimensions are rows of one larger product.
  const bool one_product = b.shape().rank() == 2 || b.shape().numel() == b.shape()[-1] * b.shape()[-2];
  const auto as_rows = [](const Tensor& t) { return t.alias(0, {t.shape().rows(), t.shape().cols()}); };
  Tensor y = Tensor::empty(device, shape);
  if (one_product) {
    const Shape rows{a.shape().rows(), b.shape()[-1]};
    launch_batched(device, LLMTOOL_MATMUL_NN, as_rows(a), as_rows(b), y.view(), rows, 0);
  } else {
    launch_batched(device, LLMTOOL_MATMUL_NN, a, b, y.view(), shape, 0);
  }
  return record(
      "matmul", y, {a, b},
      [one_product, as_rows, sa = a.shape(), sb = b.shape(), a_kept = b.requires_grad() ? Saved(a) : Saved(),
       b_kept = a.requires_grad() ? Saved(b) : Saved()](Backward& back) {
        const Tensor& dy = back.grad();
        if (!one_product) {
          if (back.wants(0)) send_product(back, 0, sa, LLMTOOL_MATMUL_NT, dy, b_kept.get());
          if (back.wants(1)) send_product(back, 1, sb, LLMTOOL_MATMUL_TN, a_kept.get(), dy);
          return;
        }
        const Shape a_rows{sa.rows(), sa.cols()};
        const Shape b_rows{sb.rows(), sb.cols()};
        if (const GradTarget da = back.target(0)) {
          launch_batched(back.device(), LLMTOOL_MATMUL_NT, as_rows(dy), as_rows(b_kept.get()), da.view(),
                         a_rows, da.accumulate);
        }
        if (const GradTarget db = back.target(1)) {
          launch_batched(back.device(), LLMTOOL_MATMUL_TN, as_rows(a_kept.get()), as_rows(dy), db.view(),
                         b_rows, db.accumulate);
        }
      });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  check_linear("linear", x, weight, bias);
  Device& device = operands("linear", {x, weight, bias});
  const std::int64_t rows = x.shape().rows();
  const std::int64_t in = weight.shape()[1];
  const std::int64_t out = weight.shape()[0];
  Tensor y = Tensor::empty(device, with_cols(x.shape(), out));
  const bool keeps_pre = activation != Activation::none && will_record({x, weight, bias});
  const Tensor pre = keeps_pre ? Tensor::empty(device, y.shape()) : Tensor();
  MatmulParams params = product(LLMTOOL_MATMUL_NT, rows, out, in, in, in, out);
  params.activation = kernel_activation(activation);
  launch_product(device, x.view(), weight.view(), y.view(), params, bias.defined() ? bias.view() : View{},
                 pre.defined() ? pre.view() : View{});
  return record(
      "linear", y, {x, weight, bias},
      [rows, in, out, activation, pre_kept = Saved(pre), x_kept = weight.requires_grad() ? Saved(x) : Saved(),
       w_kept = x.requires_grad() ? Saved(weight) : Saved()](Backward& back) {
        Device& d = back.device();
        const Tensor dp = activation == Activation::none
                              ? back.grad()
                              : before_activation(activation, pre_kept.get(), back.grad());
        if (const GradTarget dx = back.target(0)) {
          launch_product(d, dp.view(), w_kept.get().view(), dx.view(),
                         product(LLMTOOL_MATMUL_NN, rows, in, out, out, in, in, dx.accumulate));
        }
        if (const GradTarget dw = back.target(1)) {
          launch_product(d, dp.view(), x_kept.get().view(), dw.view(),
                         product(LLMTOOL_MATMUL_TN, out, in, rows, out, in, in, dw.accumulate));
        }
        if (const GradTarget db = back.target(2)) {
          launch_sum_to(d, dp.view(), {rows, out}, db.view(), {out}, 1.0F, db.accumulate);
        }
      });
}

namespace {

/// The sizes of linear_joined and where each part's columns begin.
struct Parts {
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t total = 0;
  std::vector<std::int64_t> width, column;
  std::size_t count() const { return width.size(); }
};

void joined_forward(const Parts& p, const Tensor& x, const std::vector<Tensor>& weights,
                    const std::vector<Tensor>& biases, const Tensor& y) {
  const View all_weights = joined(weights);
  const View all_biases = biases.empty() ? View{} : joined(biases);
  if (all_weights && (biases.empty() || all_biases)) {
    launch_product(x.device(), x.view(), all_weights, y.view(),
                   product(LLMTOOL_MATMUL_NT, p.rows, p.total, p.in, p.in, p.in, p.total), all_biases);
    return;
  }
  for (std::size_t i = 0; i < p.count(); ++i) {
    launch_product(x.device(), x.view(), weights[i].view(), columns(y, p.column[i], p.width[i]),
                   product(LLMTOOL_MATMUL_NT, p.rows, p.width[i], p.in, p.in, p.in, p.total),
                   biases.empty() ? View{} : biases[i].view());
  }
}

void joined_dx(Backward& back, const Parts& p, const std::vector<Saved>& kept) {
  const GradTarget dx = back.target(0);
  if (!dx) return;
  std::vector<Tensor> weights;
  for (const Saved& w : kept) weights.push_back(w.get());
  if (const View all = joined(weights)) {
    launch_product(back.device(), back.grad().view(), all, dx.view(),
                   product(LLMTOOL_MATMUL_NN, p.rows, p.in, p.total, p.total, p.in, p.in, dx.accumulate));
    return;
  }
  // One part after the other continues the same sums.
  for (std::size_t i = 0; i < p.count(); ++i) {
    launch_product(back.device(), columns(back.grad(), p.column[i], p.width[i]), weights[i].view(), dx.view(),
                   product(LLMTOOL_MATMUL_NN, p.rows, p.in, p.width[i], p.total, p.in, p.in,
                           i == 0 ? dx.accumulate : 1));
  }
}

void joined_dw(Backward& back, const Parts& p, const Saved& x_kept) {
  std::vector<GradTarget> targets;
  if (const View all = joined_targets(back, 1, p.count(), targets)) {
    launch_product(
        back.device(), back.grad().view(), x_kept.get().view(), all,
        product(LLMTOOL_MATMUL_TN, p.total, p.in, p.rows, p.total, p.in, p.in, targets.front().accumulate));
    return;
  }
  for (std::size_t i = 0; i < p.count(); ++i) {
    if (!targets[i]) continue;
    launch_product(
        back.device(), columns(back.grad(), p.column[i], p.width[i]), x_kept.get().view(), targets[i].view(),
        product(LLMTOOL_MATMUL_TN, p.width[i], p.in, p.rows, p.total, p.in, p.in, targets[i].accumulate));
  }
}

void joined_db(Backward& back, const Parts& p) {
  const int first = 1 + static_cast<int>(p.count());
  std::vector<GradTarget> targets;
  const Shape wide{p.rows, p.total};
  if (const View all = joined_targets(back, first, p.count(), targets)) {
    launch_sum_to(back.device(), back.grad().view(), wide, all, {p.total}, 1.0F, targets.front().accumulate);
    return;
  }
  Tensor sums;
  for (std::size_t i = 0; i < p.count(); ++i) {
    if (!targets[i]) continue;
    if (!sums.defined()) {
      sums = Tensor::empty(back.device(), {p.total});
      launch_sum_to(back.device(), back.grad().view(), wide, sums.view(), {p.total}, 1.0F, 0);
    }
    launch<KernelId::affine>(back.device(), {sums.alias(p.column[i], {p.width[i]}).view(), targets[i].view()},
                             {u32(p.width[i]), 1.0F, 0.0F, targets[i].accumulate});
  }
}

}  // namespace

Tensor linear_joined(const Tensor& x, std::span<const Tensor> weights, std::span<const Tensor> biases) {
  constexpr const char* op = "linear_joined";
  const bool biased = !biases.empty() && biases.front().defined();
  if (weights.empty() || (!biases.empty() && biases.size() != weights.size())) {
    throw request_error(cat("[", op, "] ", weights.size(), " weights and ", biases.size(), " biases"));
  }
  require_last_dimension(op, x);
  Parts p;
  p.rows = x.shape().rows();
  p.in = x.shape()[-1];
  std::vector<Tensor> inputs{x};
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor bias = biases.empty() ? Tensor() : biases[i];
    if (bias.defined() != biased) throw request_error(cat("[", op, "] some biases are given and some not"));
    check_linear(op, x, weights[i], bias);
    operands(op, {x, weights[i], bias});
    if (biased) inputs.push_back(bias);
    p.column.push_back(p.total);
    p.width.push_back(weights[i].shape()[0]);
    p.total += p.width.back();
  }
  const std::vector<Tensor> all_weights(weights.begin(), weights.end());
  const std::vector<Tensor> all_biases(biases.begin(), biased ? biases.end() : biases.begin());

  Tensor y = Tensor::empty(x.device(), with_cols(x.shape(), p.total));
  joined_forward(p, x, all_weights, all_biases, y);

  std::vector<Saved> w_kept;
  for (const Tensor& weight : weights) w_kept.emplace_back(weight);
  return record(op, y, inputs, [p, biased, w_kept, x_kept = Saved(x)](Backward& back) {
    joined_dx(back, p, w_kept);
    joined_dw(back, p, x_kept);
    if (biased) joined_db(back, p);
  });
}

}  // namespace llmtool::ops
