// A strip of the product: some blocks of rows x one panel of columns at one depth of k, and what follows the
// last depth (bias, pre, activation) while the tile is in the level-1 cache. Not here: who takes which strip
// (matmul.cpp).
#if defined(LLMTOOL_CPU_MATMUL_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_MATMUL_TILE_INL_H
#undef LLMTOOL_CPU_MATMUL_TILE_INL_H
#else
#define LLMTOOL_CPU_MATMUL_TILE_INL_H
#endif

#include "cpu/math-inl.h"
#include "cpu/matmul_micro-inl.h"
#include "cpu/matmul_plan.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// What all matrices of a launch have in common.
struct Product {
  std::size_t m, n, k, lda, ldb, ldc;
  bool nt, tn, accumulate;
  std::uint32_t activation;
  EvenParts depths;  ///< k in blocks; the chains go on from one to the next through c.

  bool finishes(const MatmulJob& job) const noexcept {
    return job.bias != nullptr || job.pre != nullptr || activation != LLMTOOL_ACT_NONE;
  }
};

/// One panel of columns at one depth.
struct Strip {
  std::size_t depth, column, columns;
  const float* b;
  std::size_t ldb;

  std::size_t padded() const noexcept { return (columns + mm_lanes - 1) / mm_lanes * mm_lanes; }
};

template <std::uint32_t activation>
HWY_INLINE VF activate(VF x) {
  if constexpr (activation == LLMTOOL_ACT_RELU) return hn::IfThenZeroElse(hn::Lt(x, zero()), x);  // keeps NaN
  if constexpr (activation == LLMTOOL_ACT_GELU) return gelu(x);
  if constexpr (activation == LLMTOOL_ACT_GELU_EXACT) return gelu_exact(x);
  return x;
}

/// rows x width (whole vectors) at c: adds the bias, copies to pre, applies the activation. bias and pre may
/// be null.
template <std::uint32_t activation>
void finish(std::size_t rows, std::size_t width, float* c, std::size_t ldc, const float* bias, float* pre,
            std::size_t ldpre) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; j += mm_lanes) {
      VF x = load(c + i * ldc + j);
      if (bias != nullptr) x = hn::Add(x, load(bias + j));
      if (pre != nullptr) store(x, pre + i * ldpre + j);
      store(activate<activation>(x), c + i * ldc + j);
    }
  }
}

inline void finish_tile(std::uint32_t activation, std::size_t rows, std::size_t width, float* c,
                        std::size_t ldc, const float* bias, float* pre, std::size_t ldpre) {
  switch (activation) {
    case LLMTOOL_ACT_RELU:
      return finish<LLMTOOL_ACT_RELU>(rows, width, c, ldc, bias, pre, ldpre);
    case LLMTOOL_ACT_GELU:
      return finish<LLMTOOL_ACT_GELU>(rows, width, c, ldc, bias, pre, ldpre);
    case LLMTOOL_ACT_GELU_EXACT:
      return finish<LLMTOOL_ACT_GELU_EXACT>(rows, width, c, ldc, bias, pre, ldpre);
    default:
      return finish<LLMTOOL_ACT_NONE>(rows, width, c, ldc, bias, pre, ldpre);
  }
}

inline void copy_tile(std::size_t rows, std::size_t columns, const float* from, std::size_t ld_from,
                      float* to, std::size_t ld_to) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) to[i * ld_to + j] = from[i * ld_from + j];
  }
}

/// A tile that is narrower than its vectors: computed in a tile of its own, padded with zeros.
inline void narrow_tile(const Product& s, const MatmulJob& job, const Strip& strip, Micro micro_loop,
                        MicroArgs args, std::size_t row, std::size_t rows, bool last) {
  HWY_ALIGN float tile[mm_rows * mm_panel] = {};
  float* const c = args.c;
  const std::size_t width = strip.padded();
  if (args.load) copy_tile(rows, strip.columns, c, s.ldc, tile, width);
  args.c = tile;
  args.ldc = width;
  micro_loop(args);
  if (last && s.finishes(job)) {
    HWY_ALIGN float bias[mm_panel] = {};
    HWY_ALIGN float pre[mm_rows * mm_panel];
    if (job.bias != nullptr) copy_tile(1, strip.columns, job.bias + strip.column, 0, bias, 0);
    finish_tile(s.activation, rows, width, tile, width, job.bias == nullptr ? nullptr : bias, pre, width);
    if (job.pre != nullptr) {
      copy_tile(rows, strip.columns, pre, width, job.pre + row * s.ldc + strip.column, s.ldc);
    }
  }
  copy_tile(rows, strip.columns, tile, width, c, s.ldc);
}

/// Blocks [first, last_block) of the rows. packed_a: what pack_a() made of them, or null: A is read in place.
inline void product_of_strip(const Product& s, const MatmulJob& job, const RowBlocks& blocks,
                             std::size_t first, std::size_t last_block, const float* packed_a,
                             const Strip& strip) {
  const std::size_t p = s.depths.begin(strip.depth), k = s.depths.size(strip.depth);
  const bool last = strip.depth + 1 == s.depths.count();
  const int vectors = static_cast<int>(strip.padded() / mm_lanes);
  std::size_t chosen_rows = 0;
  Micro micro_loop = nullptr;
  for (std::size_t block = first; block < last_block; ++block) {
    const std::size_t row = blocks.begin(block), rows = blocks.begin(block + 1) - row;
    if (rows != chosen_rows) {
      chosen_rows = rows;
      micro_loop = choose_micro(static_cast<int>(rows), vectors, packed_a != nullptr);
    }
    float* const c = job.c + row * s.ldc + strip.column;
    const float* const a =
        packed_a != nullptr ? packed_a + (row - blocks.begin(first)) * k : job.a + row * s.lda + p;
    const std::size_t a_row = packed_a != nullptr ? 1 : s.lda, a_depth = packed_a != nullptr ? rows : 1;
    const MicroArgs args{k, a, a_row, a_depth, strip.b, strip.ldb, c, s.ldc, s.accumulate || strip.depth > 0};
    if (strip.columns != strip.padded()) {
      narrow_tile(s, job, strip, micro_loop, args, row, rows, last);
      continue;
    }
    micro_loop(args);
    if (last && s.finishes(job)) {
      finish_tile(s.activation, rows, strip.columns, c, s.ldc,
                  job.bias == nullptr ? nullptr : job.bias + strip.column,
                  job.pre == nullptr ? nullptr : job.pre + row * s.ldc + strip.column, s.ldc);
    }
  }
}

/// All rows (at most mm_stream_rows) x a few whole vectors of columns of A B^T, over all of k, without
/// packing.
inline void stream_tile(const Product& s, const MatmulJob& job, std::size_t column, int vectors) {
  float* const c = job.c + column;
  choose_micro_nt(static_cast<int>(s.m),
                  vectors)({s.k, job.a, s.lda, 1, job.b + column * s.ldb, s.ldb, c, s.ldc, s.accumulate});
  if (s.finishes(job)) {
    finish_tile(s.activation, s.m, static_cast<std::size_t>(vectors) * mm_lanes, c, s.ldc,
                job.bias == nullptr ? nullptr : job.bias + column,
                job.pre == nullptr ? nullptr : job.pre + column, s.ldc);
  }
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
