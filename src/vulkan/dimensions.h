// Joining the dimensions of 4-d arrays: what lies without gaps in every operand counts as one dimension, so
// that shaders divide less. Not here: the kernels that use it (plan_flat.cpp, plan_shape.cpp).
#pragma once
#include <array>
#include <cstdint>

namespace llmtool::vulkan {

using Dims = std::uint32_t[4];

/// Sizes of a 4-d array with the strides of up to two operands, as kernels' parameters hold them. After
/// join() the last `rank` dimensions are in use, those before have size 1 and stride 0.
struct Joined {
  Dims shape{1, 1, 1, 1};
  Dims a{};
  Dims b{};
  std::uint32_t rank = 0;
};

/// The same elements in the same order with as few dimensions as can be; at least one.
inline Joined join(const Dims& shape, const Dims& a_stride, const Dims& b_stride) noexcept {
  Joined j;
  int at = 4;  // dimensions at .. 3 are filled
  for (int d = 3; d >= 0; --d) {
    if (shape[d] == 1) continue;
    if (at < 4) {
      const std::uint64_t inner = j.shape[at];
      if (a_stride[d] == inner * j.a[at] && b_stride[d] == inner * j.b[at]) {
        j.shape[at] *= shape[d];
        continue;
      }
    }
    --at;
    j.shape[at] = shape[d];
    j.a[at] = a_stride[d];
    j.b[at] = b_stride[d];
  }
  j.rank = at == 4 ? 1u : static_cast<std::uint32_t>(4 - at);
  return j;
}

inline void copy_dims(const Dims& from, Dims& to) noexcept {
  for (int d = 0; d < 4; ++d) to[d] = from[d];
}

}  // namespace llmtool::vulkan
