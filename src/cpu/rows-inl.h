// What row kernels share: walking a row in vectors with a padded tail, its maximum, its sums. Compiled per
// target.
#if defined(LLMTOOL_CPU_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_ROWS_INL
#undef LLMTOOL_CPU_ROWS_INL
#else
#define LLMTOOL_CPU_ROWS_INL
#endif

#include "cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// One row as vectors: at(c) with zeros beyond the end.
struct Row {
  const float* p;
  std::int64_t cols;
  HWY_INLINE VF at(std::int64_t c) const {
    return c + lanes <= cols ? load(p + c) : load_part(p + c, cols - c);
  }
};
HWY_INLINE void store_at(VF v, float* row, std::int64_t c, std::int64_t cols) {
  c + lanes <= cols ? store(v, row + c) : store_part(v, row + c, cols - c);
}

/// The sum of term(c) over the vectors of a row, in four chains; term gives 0 beyond the end of the row.
template <class Term>
HWY_INLINE float row_sum(std::int64_t cols, const Term& term) {
  VF s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
  std::int64_t c = 0;
  for (; c + 4 * lanes <= cols; c += 4 * lanes) {
    s0 = hn::Add(s0, term(c));
    s1 = hn::Add(s1, term(c + lanes));
    s2 = hn::Add(s2, term(c + 2 * lanes));
    s3 = hn::Add(s3, term(c + 3 * lanes));
  }
  for (; c < cols; c += lanes) s0 = hn::Add(s0, term(c));
  return sum_lanes(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

/// The largest element; a NaN may or may not be seen (the sums that follow see it).
HWY_INLINE float row_max(const float* x, std::int64_t cols) {
  const VF lowest = set(minus_infinity);
  VF m0 = lowest, m1 = lowest;
  std::int64_t c = 0;
  for (; c + 2 * lanes <= cols; c += 2 * lanes) {
    m0 = hn::Max(m0, load(x + c));
    m1 = hn::Max(m1, load(x + c + lanes));
  }
  for (; c < cols; c += lanes) {
    const std::int64_t left = cols - c;
    const VF v = left >= lanes ? load(x + c) : keep_first(load_part(x + c, left), left, lowest);
    m0 = hn::Max(m0, v);
  }
  return max_lanes(hn::Max(m0, m1));
}

/// to[c] = e^(x[c] - shift); gives their sum. to may be x, or null: the sum alone.
HWY_INLINE float row_exp(const float* x, float shift, float* to, std::int64_t cols) {
  const VF m = set(shift);
  const Row row{x, cols};
  return row_sum(cols, [&](std::int64_t c) HWY_ATTR {
    VF e = exp_nonpositive(hn::Sub(row.at(c), m));
    if (cols - c < lanes) e = keep_first(e, cols - c, zero());
    if (to != nullptr) store_at(e, to, c, cols);
    return e;
  });
}

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
