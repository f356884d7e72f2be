// What the operations share among themselves: checks of operands and the launches that several need.
// Not for code outside src/ops.
#pragma once
#include <cstdint>
#include <initializer_list>

#include "ops/dropout.h"
#include "ops/shapes.h"
#include "tensor/autograd.h"
#include "tensor/tensor.h"

namespace llmtool::ops {

/// A size, stride or offset as kernels take it; InternalError where it does not fit.
std::uint32_t u32(std::int64_t value);

/// The one device of all defined operands; request_error naming `op` where there are two, or an operand is
/// not f32.
Device& operands(const char* op, std::initializer_list<Tensor> tensors);

/// request_error unless x has at least one dimension ("the last dimension" must exist).
void require_last_dimension(const char* op, const Tensor& x);

/// round(p * 2^32), below which a random word drops its element; 0: no dropout. request_error unless 0 <= p
/// < 1.
std::uint32_t drop_threshold(const char* op, const Dropout& dropout);
/// 1 / (1 - p).
float drop_scale(const Dropout& dropout) noexcept;

/// The 2-d part of x that starts at column `column` and is `width` wide, x seen as (rows, x.shape().cols()):
/// a view from its first element to its last.
View columns(const Tensor& x, std::int64_t column, std::int64_t width);

/// into = (accumulate: +) scale * x summed over the dimensions in which shape `to` was broadcast to `from`.
void launch_sum_to(Device& device, const View& x, const Shape& from, const View& into, const Shape& to,
                   float scale, std::uint32_t accumulate);

/// into = (accumulate: +) scale * x broadcast from shape `from` to shape `to`.
void launch_expand(Device& device, const View& x, const Shape& from, const View& into, const Shape& to,
                   float scale, std::uint32_t accumulate);

/// `write(into, accumulate)` makes a gradient in the result's shape. It goes straight to input `input`, whose
/// shape is `shape`, or is summed over the dimensions in which that input was broadcast.
template <class Write>
void send_summed(Backward& b, int input, const Shape& shape, const Write& write) {
  if (!b.wants(input)) return;
  const Shape& full_shape = b.grad().shape();
  if (shape.numel() == full_shape.numel()) {
    const GradTarget target = b.target(input);
    write(target.view(), target.accumulate);
    return;
  }
  const Tensor full = Tensor::empty(b.device(), full_shape);
  write(full.view(), 0U);
  const GradTarget target = b.target(input);
  launch_sum_to(b.device(), full.view(), full_shape, target.view(), shape, 1.0F, target.accumulate);
}

}  // namespace llmtool::ops
