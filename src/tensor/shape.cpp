// Extents of tensors; see shape.h.
#include "tensor/shape.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace llmtool {

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  if (dims.size() > static_cast<std::size_t>(max_rank)) {
    throw request_error(cat("[shape] ", dims.size(), " dimensions; a tensor has at most ", max_rank));
  }
  std::copy(dims.begin(), dims.end(), dims_.begin());
  rank_ = static_cast<int>(dims.size());
}

std::int64_t Shape::operator[](int i) const {
  const int at = i < 0 ? i + rank_ : i;
  LLMTOOL_CHECK(at >= 0 && at < rank_, "dimension ", i, " of ", str());
  return dims_[static_cast<std::size_t>(at)];
}

std::int64_t Shape::numel() const noexcept {
  // Saturates, so that an absurd shape is refused for its size and not for what is left of it.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t product = 1;
  for (const std::int64_t d : dims()) product = d > 0 && product > most / d ? most : product * d;
  return product;
}

std::int64_t Shape::rows() const noexcept {
  const std::int64_t last = cols();
  return last == 0 ? 0 : numel() / last;
}

std::array<std::uint32_t, 4> Shape::padded() const {
  std::array<std::uint32_t, 4> out{1, 1, 1, 1};
  for (int i = 0; i < rank_; ++i) {
    const std::int64_t d = (*this)[i];
    LLMTOOL_CHECK(d >= 0 && d <= std::numeric_limits<std::uint32_t>::max(), "shape ", str());
    out[static_cast<std::size_t>(max_rank - rank_ + i)] = static_cast<std::uint32_t>(d);
  }
  return out;
}

std::string Shape::str() const {
  std::string out = "(";
  for (int i = 0; i < rank_; ++i) out += cat(i == 0 ? "" : ",", (*this)[i]);
  return out + ")";
}

bool operator==(const Shape& a, const Shape& b) noexcept { return std::ranges::equal(a.dims(), b.dims()); }

}  // namespace llmtool
