// Sums with a fixed order: of contiguous floats in double, and of columns over blocks of rows. Compiled per
// target.
#if defined(LLMTOOL_CPU_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_SUMS_INL
#undef LLMTOOL_CPU_SUMS_INL
#else
#define LLMTOOL_CPU_SUMS_INL
#endif

#include "cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// The sum of f(x[0..n)) in double, in eight interleaved chains (the same order at every level).
template <class F>
double sum_in_double(const float* x, std::int64_t n, const F& f) {
  double chains[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) chains[j] += f(static_cast<double>(x[i + j]));
  }
  for (int j = 0; i < n; ++i, ++j) chains[j] += f(static_cast<double>(x[i]));
  return ((chains[0] + chains[4]) + (chains[2] + chains[6])) +
         ((chains[1] + chains[5]) + (chains[3] + chains[7]));
}
inline double sum_in_double(const float* x, std::int64_t n) {
  return sum_in_double(x, n, [](double v) { return v; });
}

/// y[c] = scale * sum over rows of term(row, column, count), or added to y, for `Outputs` results at once.
/// term gives Outputs vectors for the columns from `column` on; count is lanes, or fewer at the end of the
/// row, where what lies beyond is ignored. Rows are added in blocks of 256, and the blocks then in order.
template <int Outputs, class Term>
void column_sums(CpuContext& context, std::int64_t rows, std::int64_t cols, float scale, bool accumulate,
                 float* const (&y)[Outputs], const Term& term) {
  constexpr std::int64_t row_block = 256, col_block = 64;
  const std::int64_t row_blocks = std::max<std::int64_t>(1, chunks_of(rows, row_block));
  const std::int64_t col_blocks = chunks_of(cols, col_block);
  float* partial = context.shared<float>(static_cast<std::size_t>(row_blocks * Outputs * cols));
  const auto block = [&](std::int64_t chunk, int) HWY_ATTR {
    const std::int64_t rb = chunk / col_blocks, cb = chunk % col_blocks;
    const std::int64_t r0 = rb * row_block, r1 = std::min(rows, r0 + row_block);
    const std::int64_t c1 = std::min(cols, (cb + 1) * col_block);
    std::int64_t c = cb * col_block;
    constexpr std::int64_t wide = 4;  // vectors side by side, so that a row is read in longer pieces
    for (; c + wide * lanes <= c1; c += wide * lanes) {
      VF sums[wide][Outputs];
      for (auto& some : sums) {
        for (VF& sum : some) sum = zero();
      }
      for (std::int64_t r = r0; r < r1; ++r) {
        for (std::int64_t v = 0; v < wide; ++v) term(r, c + v * lanes, lanes, sums[v]);
      }
      for (std::int64_t v = 0; v < wide; ++v) {
        for (int o = 0; o < Outputs; ++o)
          store(sums[v][o], partial + (rb * Outputs + o) * cols + c + v * lanes);
      }
    }
    for (; c < c1; c += lanes) {
      const std::int64_t count = std::min(lanes, c1 - c);
      VF sums[Outputs];
      for (int o = 0; o < Outputs; ++o) sums[o] = zero();
      for (std::int64_t r = r0; r < r1; ++r) term(r, c, count, sums);
      for (int o = 0; o < Outputs; ++o) {
        float* to = partial + (rb * Outputs + o) * cols + c;
        count == lanes ? store(sums[o], to) : store_part(sums[o], to, count);
      }
    }
  };
  const std::int64_t chunks = row_blocks * col_blocks;
  if (rows * cols <= flat_chunk) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) block(chunk, 0);
  } else {
    context.pool().parallel_for(chunks, block);
  }
  for (int o = 0; o < Outputs; ++o) {
    if (y[o] == nullptr) continue;
    for (std::int64_t c = 0; c < cols; ++c) {
      float sum = partial[o * cols + c];
      for (std::int64_t rb = 1; rb < row_blocks; ++rb) sum += partial[(rb * Outputs + o) * cols + c];
      y[o][c] = accumulate ? y[o][c] + scale * sum : scale * sum;
    }
  }
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
