// Renaming and moving of elements; see shape_ops.h.
#include "ops/shape_ops.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

/// The shape asked for, with -1 replaced by what is left of x's elements.
Shape resolve(const Shape& from, const Shape& wanted) {
  std::vector<std::int64_t> dims(wanted.dims().begin(), wanted.dims().end());
  const auto open = std::ranges::find(dims, -1);
  if (open != dims.end()) {
    *open = 1;
    const std::int64_t known = Shape(dims).numel();
    if (known > 0 && from.numel() % known == 0) *open = from.numel() / known;
  }
  const bool positive = std::ranges::all_of(dims, [](std::int64_t d) { return d >= 1; });
  if (!positive || Shape(dims).numel() != from.numel()) {
    throw request_error(
        cat("[reshape] ", from.str(), " has ", from.numel(), " elements, which do not fill ", wanted.str()));
  }
  return Shape(dims);
}

/// y[i] = x[sum i_d * stride_d] where dimension i of y is dimension order[i] of `from`.
PermuteParams permute_params(const Shape& from, std::span<const int> order, std::uint32_t accumulate) {
  const std::size_t pad = 4 - order.size();
  const auto dims = from.padded();
  std::array<std::uint32_t, 4> stride{};
  std::uint32_t step = 1;
  for (std::size_t d = 4; d-- > 0;) {
    stride[d] = step;
    step *= dims[d];
  }
  PermuteParams p{};
  p.n = u32(from.numel());
  p.accumulate = accumulate;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t source = i < pad ? i : pad + static_cast<std::size_t>(order[i - pad]);
    p.shape[i] = dims[source];
    p.x_stride[i] = stride[source];
  }
  return p;
}

Tensor permuted(const char* op, const Tensor& x, const std::vector<int>& order) {
  const int rank = x.shape().rank();
  std::vector<int> inverse(order.size(), -1);
  std::vector<std::int64_t> dims;
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    text += cat(i == 0 ? "" : ",", order[i]);
    if (order[i] < 0 || order[i] >= rank || static_cast<int>(order.size()) != rank) continue;
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    dims.push_back(x.shape()[order[i]]);
  }
  if (static_cast<int>(order.size()) != rank || std::ranges::find(inverse, -1) != inverse.end()) {
    throw request_error(
        cat("[", op, "] (", text, ") is no order of the ", rank, " dimensions of ", x.shape().str()));
  }
  Device& device = operands(op, {x});
  Tensor y = Tensor::empty(device, Shape(dims));
  launch<KernelId::permute>(device, {x.view(), y.view()}, permute_params(x.shape(), order, 0));
  return record(op, y, {x}, [inverse](Backward& back) {
    const GradTarget dx = back.target(0);
    launch<KernelId::permute>(back.device(), {back.grad().view(), dx.view()},
                              permute_params(back.grad().shape(), inverse, dx.accumulate));
  });
}

}  // namespace

Tensor reshape(const Tensor& x, Shape shape) {
  Tensor y = x.alias(0, resolve(x.shape(), shape));
  return record("reshape", y, {x},
                [from = x.shape()](Backward& back) { back.pass(0, back.grad().alias(0, from)); });
}

Tensor permute(const Tensor& x, std::initializer_list<int> order) { return permuted("permute", x, order); }

Tensor transpose(const Tensor& x, int d0, int d1) {
  const int rank = x.shape().rank();
  const int i = d0 < 0 ? d0 + rank : d0;
  const int j = d1 < 0 ? d1 + rank : d1;
  if (i < 0 || i >= rank || j < 0 || j >= rank) {
    throw request_error(cat("[transpose] dimensions ", d0, " and ", d1, " of ", x.shape().str()));
  }
  std::vector<int> order(static_cast<std::size_t>(rank));
  for (int d = 0; d < rank; ++d) order[static_cast<std::size_t>(d)] = d == i ? j : d == j ? i : d;
  return permuted("transpose", x, order);
}

}  // namespace llmtool::ops
