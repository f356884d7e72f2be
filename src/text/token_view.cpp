// TokenView: which part an id lies in, and reading it there.
#include "text/token_view.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace llmtool {
namespace {

std::uint32_t byte_at(const std::byte* p, std::size_t i) noexcept {
  return std::to_integer<std::uint32_t>(p[i]);
}

}  // namespace

TokenView TokenView::owning(std::vector<std::int32_t> ids) {
  const auto kept = std::make_shared<const std::vector<std::int32_t>>(std::move(ids));
  TokenView view;
  view.append(std::as_bytes(std::span(*kept)), sizeof(std::int32_t), true, kept);
  return view;
}

void TokenView::append(std::span<const std::byte> bytes, std::size_t width, bool native,
                       std::shared_ptr<const void> owner) {
  LLMTOOL_CHECK(width == 2 || width == 4, "width ", width);
  LLMTOOL_CHECK(bytes.size() % width == 0, bytes.size(), " bytes of width ", width);
  const auto count = static_cast<std::int64_t>(bytes.size() / width);
  if (count == 0) return;
  parts_.push_back({size_, count, bytes.data(), width, native, std::move(owner)});
  size_ += count;
}

void TokenView::append(const TokenView& other) {
  for (Part part : std::vector<Part>(other.parts_)) {
    part.begin = size_;
    size_ += part.count;
    parts_.push_back(std::move(part));
  }
}

void TokenView::copy(std::int64_t begin, std::span<std::int32_t> out) const noexcept {
  auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                               [](std::int64_t at, const Part& p) { return at < p.begin; });
  if (part != parts_.begin()) --part;
  for (; !out.empty(); ++part) {
    const std::int64_t skipped = begin - part->begin;
    const auto n = static_cast<std::size_t>(std::min(part->count - skipped, std::ssize(out)));
    const std::byte* from = part->data + static_cast<std::size_t>(skipped) * part->width;
    if (part->native) {
      std::memcpy(out.data(), from, n * sizeof(std::int32_t));
    } else if (part->width == 2) {
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<std::int32_t>(byte_at(from, 2 * i) | byte_at(from, 2 * i + 1) << 8);
    } else {
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<std::int32_t>(byte_at(from, 4 * i) | byte_at(from, 4 * i + 1) << 8 |
                                           byte_at(from, 4 * i + 2) << 16 | byte_at(from, 4 * i + 3) << 24);
    }
    out = out.subspan(n);
    begin += static_cast<std::int64_t>(n);
  }
}

std::vector<std::int32_t> TokenView::ids(std::int64_t begin, std::int64_t count) const {
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  copy(begin, out);
  return out;
}

TokenView TokenView::part(std::int64_t begin, std::int64_t count) const {
  LLMTOOL_CHECK(begin >= 0 && count >= 0 && begin + count <= size_, "part ", begin, " + ", count, " of ",
                size_);
  TokenView out;
  for (const Part& whole : parts_) {
    const std::int64_t first = std::max(begin, whole.begin);
    const std::int64_t last = std::min(begin + count, whole.begin + whole.count);
    if (first >= last) continue;
    Part cut = whole;
    cut.data += static_cast<std::size_t>(first - whole.begin) * cut.width;
    cut.begin = out.size_;
    cut.count = last - first;
    out.size_ += cut.count;
    out.parts_.push_back(std::move(cut));
  }
  return out;
}

}  // namespace llmtool
