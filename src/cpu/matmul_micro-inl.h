// The innermost loops of the matrix product: a block of rows x a few vectors of columns, held in registers
// while k goes by. Every element is one ascending chain of MulAdd over k whatever the block, so all functions
// here give the same bits. Not here: packing (matmul_pack-inl.h), blocking and threads (matmul.cpp).
#if defined(LLMTOOL_CPU_MATMUL_MICRO_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_MATMUL_MICRO_INL_H
#undef LLMTOOL_CPU_MATMUL_MICRO_INL_H
#else
#define LLMTOOL_CPU_MATMUL_MICRO_INL_H
#endif

#include <cstddef>

#include "cpu/matmul_plan.h"
#include "cpu/simd-inl.h"
#include "hwy/cache_control.h"

// Clang unrolls these loops of constant length by itself; g++ needs to be told, or the accumulators go to
// memory.
#undef LLMTOOL_UNROLL
#undef LLMTOOL_UNROLL_4
#ifdef __clang__
#define LLMTOOL_UNROLL _Pragma("unroll")
#define LLMTOOL_UNROLL_4 _Pragma("unroll 4")
#else
#define LLMTOOL_UNROLL _Pragma("GCC unroll 16")
#define LLMTOOL_UNROLL_4 _Pragma("GCC unroll 4")
#endif

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {
constexpr std::size_t mm_lanes = HWY_LANES(float);

// The largest block, rows x vectors: accumulators, vectors of B and a broadcast of A fill the registers, and
// rows + vectors, the loads of a step, are few (on AVX2, 4 x 3 takes 7 loads for 12 multiply-adds, 6 x 2
// takes 8: as many instructions less for a core that shares its front end with another thread).
#if HWY_TARGET == HWY_AVX3
constexpr int mm_rows = 12, mm_vectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr int mm_rows = 4, mm_vectors = 3;
#elif HWY_TARGET == HWY_NEON
constexpr int mm_rows = 8, mm_vectors = 2;
#else
constexpr int mm_rows = 4, mm_vectors = 2;
#endif
constexpr std::size_t mm_panel = mm_vectors * mm_lanes;  ///< Columns of the widest panel of packed B.

/// Columns cut into panels of at most mm_panel, whole vectors but for the last, as even as can be: a last
/// panel of one vector would hold too few chains to hide the latency of the adders.
inline EvenParts panels_of(std::size_t columns) { return {columns, mm_panel, mm_lanes}; }

/// What an inner loop works on. c[i*ldc + j] for i < R, j < NV*lanes; the chain starts from c if `load`, else
/// from 0.
struct MicroArgs {
  std::size_t k;
  const float* a;
  std::size_t a_row, a_depth;  ///< Element (i, p) of A is a[i*a_row + p*a_depth].
  const float* b;
  std::size_t ldb;
  float* c;
  std::size_t ldc;
  bool load;
};

template <int R, int NV>
HWY_INLINE void start_chains(const MicroArgs& g, VF (&acc)[R][NV]) {
  const DF d;
  if (g.load) {
    LLMTOOL_UNROLL
    for (int i = 0; i < R; ++i) {
      LLMTOOL_UNROLL
      for (int v = 0; v < NV; ++v) acc[i][v] = hn::LoadU(d, g.c + i * g.ldc + v * mm_lanes);
    }
  } else {
    LLMTOOL_UNROLL
    for (int i = 0; i < R; ++i) {
      LLMTOOL_UNROLL
      for (int v = 0; v < NV; ++v) acc[i][v] = hn::Zero(d);
    }
  }
}

template <int R, int NV>
HWY_INLINE void store_chains(float* c, std::size_t ldc, const VF (&acc)[R][NV]) {
  const DF d;
  LLMTOOL_UNROLL
  for (int i = 0; i < R; ++i) {
    LLMTOOL_UNROLL
    for (int v = 0; v < NV; ++v) hn::StoreU(acc[i][v], d, c + i * ldc + v * mm_lanes);
  }
}

/// B by rows of k: b[p*ldb + j], a packed panel or the matrix itself. With `packed`, A is packed too: its
/// strides are 1 and R, known to the compiler, which saves the inner loop address registers and additions.
template <int R, int NV, bool packed>
void micro(const MicroArgs& g) {
  const DF d;
  VF acc[R][NV];
  float* const c = g.c;
  const std::size_t ldc = g.ldc;
  LLMTOOL_UNROLL
  for (int i = 0; i < R; ++i) hwy::Prefetch(c + i * ldc);
  start_chains<R, NV>(g, acc);
  const float* HWY_RESTRICT a = g.a;
  const float* HWY_RESTRICT b = g.b;
  const std::size_t a_row = packed ? 1 : g.a_row, a_depth = packed ? R : g.a_depth, ldb = g.ldb;
  LLMTOOL_UNROLL_4
  for (std::size_t p = 0; p < g.k; ++p) {
    VF bv[NV];
    LLMTOOL_UNROLL
    for (int v = 0; v < NV; ++v) bv[v] = hn::LoadU(d, b + v * mm_lanes);
    LLMTOOL_UNROLL
    for (int i = 0; i < R; ++i) {
      const auto av = hn::Set(d, a[static_cast<std::size_t>(i) * a_row]);
      LLMTOOL_UNROLL
      for (int v = 0; v < NV; ++v) acc[i][v] = hn::MulAdd(av, bv[v], acc[i][v]);
    }
    a += a_depth;
    b += ldb;
  }
  store_chains<R, NV>(c, ldc, acc);
}

#if HWY_TARGET != HWY_SCALAR
/// Four values of k of `lanes` rows of B^T, transposed: t[q] holds b[j*ldb + q] for the lanes j.
HWY_INLINE void load_transposed(const float* b, std::size_t ldb, VF (&t)[4]) {
  const DF d;
  const hn::FixedTag<float, 4> d4;
  VF r[4];
  LLMTOOL_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float* row = b + i * ldb;
#if HWY_TARGET == HWY_AVX3
    const hn::FixedTag<float, 8> d8;
    const auto low = hn::Combine(d8, hn::LoadU(d4, row + 4 * ldb), hn::LoadU(d4, row));
    const auto high = hn::Combine(d8, hn::LoadU(d4, row + 12 * ldb), hn::LoadU(d4, row + 8 * ldb));
    r[i] = hn::Combine(d, high, low);
#elif HWY_TARGET == HWY_AVX2
    r[i] = hn::Combine(d, hn::LoadU(d4, row + 4 * ldb), hn::LoadU(d4, row));
#else
    r[i] = hn::LoadU(d4, row);
#endif
  }
  // A 4 x 4 transposition inside each 128-bit part.
  const hn::RepartitionToWide<DF> dw;
  const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, r[0], r[1]));
  const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, r[2], r[3]));
  const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, r[0], r[1]));
  const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, r[2], r[3]));
  t[0] = hn::BitCast(d, hn::InterleaveLower(dw, low01, low23));
  t[1] = hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23));
  t[2] = hn::BitCast(d, hn::InterleaveLower(dw, high01, high23));
  t[3] = hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23));
}
#endif

/// The last values of k, or the one lane of the scalar level: t holds b[j*ldb] for the lanes j.
HWY_INLINE VF load_column(const float* b, std::size_t ldb) {
  const DF d;
  HWY_ALIGN float column[mm_lanes];
  for (std::size_t j = 0; j < mm_lanes; ++j) column[j] = b[j * ldb];
  return hn::Load(d, column);
}

/// For few rows: B^T (b[j*ldb + p]) streams through the registers once and is transposed there; A unpacked.
template <int R, int NV>
void micro_nt(const MicroArgs& g) {
  const DF d;
  VF acc[R][NV];
  float* const c = g.c;
  const std::size_t ldc = g.ldc;
  start_chains<R, NV>(g, acc);
  const std::size_t lda = g.a_row, ldb = g.ldb;
  std::size_t p = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; p + 4 <= g.k; p += 4) {
    LLMTOOL_UNROLL
    for (int v = 0; v < NV; ++v) {
      VF t[4];
      load_transposed(g.b + v * mm_lanes * ldb + p, ldb, t);
      LLMTOOL_UNROLL
      for (int q = 0; q < 4; ++q) {
        LLMTOOL_UNROLL
        for (int i = 0; i < R; ++i) {
          acc[i][v] = hn::MulAdd(hn::Set(d, g.a[static_cast<std::size_t>(i) * lda + p + q]), t[q], acc[i][v]);
        }
      }
    }
  }
#endif
  for (; p < g.k; ++p) {
    LLMTOOL_UNROLL
    for (int v = 0; v < NV; ++v) {
      const auto t = load_column(g.b + v * mm_lanes * ldb + p, ldb);
      LLMTOOL_UNROLL
      for (int i = 0; i < R; ++i) {
        acc[i][v] = hn::MulAdd(hn::Set(d, g.a[static_cast<std::size_t>(i) * lda + p]), t, acc[i][v]);
      }
    }
  }
  store_chains<R, NV>(c, ldc, acc);
}

using Micro = void (*)(const MicroArgs&);

/// micro<rows, vectors> for rows 1 .. mm_rows, vectors 1 .. mm_vectors.
template <int R = mm_rows, int NV = mm_vectors>
HWY_INLINE Micro choose_micro(int rows, int vectors, bool packed) {
  if (rows == R && vectors == NV) return packed ? &micro<R, NV, true> : &micro<R, NV, false>;
  if constexpr (R > 1) {
    if (rows < R) return choose_micro<R - 1, NV>(rows, vectors, packed);
  }
  if constexpr (NV > 1) {
    if (vectors < NV) return choose_micro<R, NV - 1>(rows, vectors, packed);
  }
  return nullptr;
}

/// Rows that the streaming loops take at once, and how many vectors of columns they do side by side for a
/// number of rows (enough chains to hide the latency of the adders, few enough for the registers).
constexpr int mm_stream_rows = 8;
constexpr int stream_vectors(int rows) { return rows <= 2 ? 4 : rows <= 4 ? 2 : 1; }

template <int R = mm_stream_rows>
HWY_INLINE Micro choose_micro_nt(int rows, int vectors) {
  if (rows == R) {
    if constexpr (stream_vectors(R) >= 4) {
      if (vectors == 4) return &micro_nt<R, 4>;
    }
    if constexpr (stream_vectors(R) >= 2) {
      if (vectors == 2) return &micro_nt<R, 2>;
    }
    return &micro_nt<R, 1>;
  }
  if constexpr (R > 1) return choose_micro_nt<R - 1>(rows, vectors);
  return nullptr;
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
