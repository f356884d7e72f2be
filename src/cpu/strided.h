// A 4-d output, contiguous, and one or two operands read with strides, cut into runs along the last
// dimension. Dimensions that lie on each other without a gap are merged first, so that equal shapes become
// one run. Not here: what is computed.
#pragma once
#include <algorithm>
#include <cstdint>

namespace llmtool::cpu {

struct Strided {
  int dims = 1;
  std::int64_t shape[4] = {1, 1, 1, 1};  ///< [0] is the last dimension: the length of a run.
  std::int64_t a[4] = {0, 0, 0, 0};
  std::int64_t b[4] = {0, 0, 0, 0};

  /// `sizes` and strides as kernels are given them, first dimension first; no second operand: b_strides null.
  Strided(const std::uint32_t (&sizes)[4], const std::uint32_t* a_strides,
          const std::uint32_t* b_strides) noexcept {
    int last = -1;
    for (int d = 3; d >= 0; --d) {
      const std::int64_t size = sizes[d], sa = a_strides[d], sb = b_strides == nullptr ? 0 : b_strides[d];
      if (size == 1) continue;
      if (last >= 0 && sa == a[last] * shape[last] && sb == b[last] * shape[last]) {
        shape[last] *= size;
        continue;
      }
      ++last;
      shape[last] = size;
      a[last] = sa;
      b[last] = sb;
    }
    dims = std::max(last + 1, 1);
  }

  /// Where run `index` (over all dimensions but the last) starts in each operand.
  void offsets(std::int64_t index, std::int64_t& at_a, std::int64_t& at_b) const noexcept {
    at_a = at_b = 0;
    for (int d = 1; d < dims; ++d) {
      const std::int64_t i = index % shape[d];
      index /= shape[d];
      at_a += i * a[d];
      at_b += i * b[d];
    }
  }

  /// body(y_begin, a_begin, b_begin, count) for the pieces of runs that make up elements [begin, end) of the
  /// output.
  template <class Body>
  void pieces(std::int64_t begin, std::int64_t end, const Body& body) const {
    const std::int64_t length = shape[0];
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t index = i / length, from = i - index * length;
      const std::int64_t count = std::min(length - from, end - i);
      std::int64_t at_a = 0, at_b = 0;
      offsets(index, at_a, at_b);
      body(i, at_a + from * a[0], at_b + from * b[0], count);
      i += count;
    }
  }
};

}  // namespace llmtool::cpu
