// A tensor's extents: at most four, row-major. Not here: strides (tensors are contiguous) and broadcasting
// (ops).
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace llmtool {

class Shape {
 public:
  static constexpr int max_rank = 4;

  Shape() = default;  ///< Rank 0: a scalar, one element.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  int rank() const noexcept { return rank_; }
  /// Extent of dimension i; negative i counts from the end. InternalError outside the rank.
  std::int64_t operator[](int i) const;
  std::int64_t numel() const noexcept;
  /// The last extent (1 for a scalar) and the product of the others.
  std::int64_t cols() const noexcept { return rank_ == 0 ? 1 : dims_[static_cast<std::size_t>(rank_ - 1)]; }
  std::int64_t rows() const noexcept;
  /// The shape with 1s put in front until it has four dimensions; what kernels are given.
  std::array<std::uint32_t, 4> padded() const;
  std::span<const std::int64_t> dims() const noexcept {
    return {dims_.data(), static_cast<std::size_t>(rank_)};
  }
  /// "(2,8,64)"; "()" for a scalar.
  std::string str() const;
  friend bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  std::array<std::int64_t, max_rank> dims_{};
  int rank_ = 0;
};

}  // namespace llmtool
