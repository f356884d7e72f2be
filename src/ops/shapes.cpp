// Rules shared by several operations; see shapes.h and internal.h.
#include "ops/shapes.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

ReduceParams reduce_params(const Shape& wide, const Shape& narrow, float scale, std::uint32_t accumulate) {
  ReduceParams p{};
  p.n = u32(wide.numel());
  std::ranges::copy(wide.padded(), p.shape);
  std::ranges::copy(narrow.padded(), p.out_shape);
  p.scale = scale;
  p.accumulate = accumulate;
  return p;
}

}  // namespace

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<std::int64_t, Shape::max_rank> dims{};
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[-i] : 1;
    const std::int64_t y = i <= b.rank() ? b[-i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw request_error(cat("[", op, "] shapes do not broadcast: a ", a.str(), ", b ", b.str()));
    }
    dims[static_cast<std::size_t>(rank - i)] = x == 1 ? y : x;
  }
  return Shape(std::span<const std::int64_t>(dims.data(), static_cast<std::size_t>(rank)));
}

std::uint32_t u32(std::int64_t value) {
  LLMTOOL_CHECK(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(), "a size of ", value);
  return static_cast<std::uint32_t>(value);
}

Device& operands(const char* op, std::initializer_list<Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.dtype() != DType::f32) {
      throw request_error(
          cat("[", op, "] takes f32 tensors, not ", name_of(tensor.dtype()), " ", tensor.shape().str()));
    }
  }
  return common_device(op, tensors);
}

void require_last_dimension(const char* op, const Tensor& x) {
  if (x.shape().rank() == 0)
    throw request_error(cat("[", op, "] needs at least one dimension, not a scalar"));
}

View columns(const Tensor& x, std::int64_t column, std::int64_t width) {
  const std::int64_t cols = x.shape().cols();
  LLMTOOL_CHECK(column >= 0 && width > 0 && column + width <= cols, "columns ", column, " + ", width, " of ",
                cols);
  View view = x.view();
  view.offset += static_cast<std::uint64_t>(column) * size_of(view.dtype);
  view.bytes = static_cast<std::uint64_t>((x.shape().rows() - 1) * cols + width) * size_of(view.dtype);
  return view;
}

void launch_sum_to(Device& device, const View& x, const Shape& from, const View& into, const Shape& to,
                   float scale, std::uint32_t accumulate) {
  launch<KernelId::sum_to>(device, {x, into}, reduce_params(from, to, scale, accumulate));
}

void launch_expand(Device& device, const View& x, const Shape& from, const View& into, const Shape& to,
                   float scale, std::uint32_t accumulate) {
  launch<KernelId::expand>(device, {x, into}, reduce_params(to, from, scale, accumulate));
}

}  // namespace llmtool::ops
