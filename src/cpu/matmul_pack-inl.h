// Copies of parts of the operands in the order the inner loops read them. Not here: the loops
// (matmul_micro-inl.h).
#if defined(LLMTOOL_CPU_MATMUL_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_MATMUL_PACK_INL_H
#undef LLMTOOL_CPU_MATMUL_PACK_INL_H
#else
#define LLMTOOL_CPU_MATMUL_PACK_INL_H
#endif

#include <cstddef>
#include <cstring>

#include "cpu/matmul_micro-inl.h"
#include "cpu/matmul_plan.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// B by rows of k (b[p*ldb + j], NN and TN): out[p*width + j] for j < columns, zeros up to width.
inline void pack_b_rows(const float* b, std::size_t ldb, std::size_t k, std::size_t columns,
                        std::size_t width, float* out) {
  const DF d;
  if (columns == width) {
    for (std::size_t p = 0; p < k; ++p, b += ldb, out += width) {
      for (std::size_t j = 0; j < width; j += mm_lanes) hn::StoreU(hn::LoadU(d, b + j), d, out + j);
    }
    return;
  }
  for (std::size_t p = 0; p < k; ++p, b += ldb, out += width) {
    for (std::size_t j = 0; j < columns; ++j) out[j] = b[j];
    for (std::size_t j = columns; j < width; ++j) out[j] = 0.0f;
  }
}

/// B by rows of n (b[j*ldb + p], NT): out[p*width + j] for j < columns, zeros up to width.
inline void pack_b_transposed(const float* b, std::size_t ldb, std::size_t k, std::size_t columns,
                              std::size_t width, float* out) {
  std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const DF d;
  for (; j + mm_lanes <= columns; j += mm_lanes) {
    const float* rows = b + j * ldb;
    std::size_t p = 0;
    for (; p + 4 <= k; p += 4) {
      VF t[4];
      load_transposed(rows + p, ldb, t);
      LLMTOOL_UNROLL
      for (int q = 0; q < 4; ++q) hn::StoreU(t[q], d, out + (p + q) * width + j);
    }
    for (; p < k; ++p) hn::StoreU(load_column(rows + p, ldb), d, out + p * width + j);
  }
#endif
  for (; j < columns; ++j) {
    for (std::size_t p = 0; p < k; ++p) out[p * width + j] = b[j * ldb + p];
  }
  for (; j < width; ++j) {
    for (std::size_t p = 0; p < k; ++p) out[p * width + j] = 0.0f;
  }
}

/// One panel of B of whole vectors, of either form; `b` points to its first column.
inline void pack_b(bool transposed, const float* b, std::size_t ldb, std::size_t k, std::size_t columns,
                   std::size_t width, float* out) {
  if (transposed) {
    pack_b_transposed(b, ldb, k, columns, width, out);
  } else {
    pack_b_rows(b, ldb, k, columns, width, out);
  }
}

template <int R>
HWY_INLINE void copy_rows(const float* a, std::size_t lda, std::size_t k, float* out) {
  for (std::size_t p = 0; p < k; ++p) std::memcpy(out + p * R, a + p * lda, R * sizeof(float));
}

template <int R = mm_rows>
HWY_INLINE void copy_rows(std::size_t rows, const float* a, std::size_t lda, std::size_t k, float* out) {
  if (rows == R) return copy_rows<R>(a, lda, k, out);
  if constexpr (R > 1) copy_rows<R - 1>(rows, a, lda, k, out);
}

/// Rows of A^T (a[p*lda + i], TN), blocks [first, last) of them: block after block from out + begin(first)*k,
/// each [p*rows + i]. `a` points to the first row at the first p.
inline void pack_a(const float* a, std::size_t lda, std::size_t k, const RowBlocks& blocks, std::size_t first,
                   std::size_t last, float* out) {
  const std::size_t row0 = blocks.begin(first);
  // A few lines of A at a time, so that they are still near for the next block.
  constexpr std::size_t step = 8;
  for (std::size_t p = 0; p < k; p += step) {
    const std::size_t count = std::min(step, k - p);
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t row = blocks.begin(i), rows = blocks.size(i);
      copy_rows(rows, a + p * lda + row, lda, count, out + (row - row0) * k + p * rows);
    }
  }
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
