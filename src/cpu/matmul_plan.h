// How a matrix product is cut up: sizes and borders, from the shapes alone (never from the number of
// threads). Not here: anything that depends on the SIMD level.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/params.h"

namespace llmtool::cpu {

/// [0, total) in as few parts of at most `limit` as possible, sizes differing by at most `unit` (but for the
/// last).
class EvenParts {
 public:
  EvenParts(std::size_t total, std::size_t limit, std::size_t unit = 1) : total_(total), unit_(unit) {
    const std::size_t units = (total + unit - 1) / unit;
    const std::size_t per_part = std::max<std::size_t>(1, limit / unit);
    count_ = std::max<std::size_t>(1, (units + per_part - 1) / per_part);
    base_ = units / count_;
    longer_ = units % count_;
  }
  std::size_t count() const noexcept { return count_; }
  std::size_t begin(std::size_t part) const noexcept {
    return std::min(total_, (part * base_ + std::min(part, longer_)) * unit_);
  }
  std::size_t size(std::size_t part) const noexcept { return begin(part + 1) - begin(part); }
  std::size_t largest() const noexcept { return std::min(total_, (base_ + (longer_ != 0 ? 1 : 0)) * unit_); }

 private:
  std::size_t total_, unit_, count_ = 1, base_ = 0, longer_ = 0;
};
using RowBlocks = EvenParts;

/// One matrix of a batch, with pointers. Leading dimensions as in MatmulParams.
struct MatmulJob {
  const float* a;
  const float* b;
  const float* bias;  // or null
  float* pre;         // or null
  float* c;
};

/// Offsets of the matrices of a batch entry.
struct BatchOffsets {
  std::size_t a, b, c;
};
inline BatchOffsets batch_offsets(const MatmulParams& p, std::size_t entry) noexcept {
  const std::size_t outer = entry / p.batch1, inner = entry % p.batch1;
  return {outer * p.a_batch[0] + inner * p.a_batch[1], outer * p.b_batch[0] + inner * p.b_batch[1],
          outer * p.c_batch[0] + inner * p.c_batch[1]};
}

/// The same product with fewer batch levels, where the rows of all entries lie evenly one after another and
/// share B.
MatmulParams merge_batch(const MatmulParams& params) noexcept;

}  // namespace llmtool::cpu
