// Scratch memory of the workers, grown and kept; see context.h.
#include "cpu/context.h"

#include <cstdlib>

#include "base/error.h"

namespace llmtool::cpu {

void Scratch::Free::operator()(std::byte* p) const noexcept { std::free(p); }

void Scratch::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  constexpr std::size_t unit = 4096;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  data_.reset();
  bytes_ = 0;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
  if (data_ == nullptr)
    throw world_error(cat("out of memory: no ", rounded, " bytes of working memory for a kernel"));
  bytes_ = rounded;
}

}  // namespace llmtool::cpu
