// The three small products that attention is made of, register-blocked: scores of a few rows against packed
// keys, rows weighted by scores, and the rank-few update of the backward. Every element is one ascending
// chain of multiply-adds, so it does not depend on which rows are computed together. Not here: softmax,
// causality, heads. Compiled per target.
#if defined(LLMTOOL_CPU_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LLMTOOL_CPU_ATTENTION_INL
#undef LLMTOOL_CPU_ATTENTION_INL
#else
#define LLMTOOL_CPU_ATTENTION_INL
#endif

#include "cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

constexpr std::int64_t panel_width = 2 * lanes;
constexpr std::int64_t padded_keys(std::int64_t keys) { return chunks_of(keys, panel_width) * panel_width; }

/// Rows [0, keys) of `size` floats as panels of panel_width rows, each transposed: panel[d][row]; zeros
/// behind the last.
inline void pack_panels(const float* rows, std::int64_t row_stride, std::int64_t keys, std::int64_t size,
                        float* to) {
  for (std::int64_t first = 0; first < keys; first += panel_width, to += panel_width * size) {
    const std::int64_t count = std::min(panel_width, keys - first);
    const float* from = rows + first * row_stride;
    std::int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::FixedTag<float, 4> d4;
    for (; r + 4 <= count; r += 4) {
      const float* f = from + r * row_stride;
      std::int64_t d = 0;
      for (; d + 4 <= size; d += 4) {
        const auto a = hn::LoadU(d4, f + d), b = hn::LoadU(d4, f + row_stride + d);
        const auto c = hn::LoadU(d4, f + 2 * row_stride + d), e = hn::LoadU(d4, f + 3 * row_stride + d);
        const auto ab0 = hn::InterleaveLower(d4, a, b), ab1 = hn::InterleaveUpper(d4, a, b);
        const auto ce0 = hn::InterleaveLower(d4, c, e), ce1 = hn::InterleaveUpper(d4, c, e);
        float* out = to + d * panel_width + r;
        hn::StoreU(hn::ConcatLowerLower(d4, ce0, ab0), d4, out);
        hn::StoreU(hn::ConcatUpperUpper(d4, ce0, ab0), d4, out + panel_width);
        hn::StoreU(hn::ConcatLowerLower(d4, ce1, ab1), d4, out + 2 * panel_width);
        hn::StoreU(hn::ConcatUpperUpper(d4, ce1, ab1), d4, out + 3 * panel_width);
      }
      for (; d < size; ++d) {
        for (std::int64_t i = 0; i < 4; ++i) to[d * panel_width + r + i] = f[i * row_stride + d];
      }
    }
#endif
    for (; r < panel_width; ++r) {
      for (std::int64_t d = 0; d < size; ++d)
        to[d * panel_width + r] = r < count ? from[r * row_stride + d] : 0.0f;
    }
  }
}

/// scores[r][panel * panel_width + ...] = scale * rows[r] . keys, for the first `panels` panels.
template <int R>
void panel_scores(const float* rows, std::int64_t row_stride, std::int64_t size, const float* panel,
                  std::int64_t panels, float scale, float* scores, std::int64_t score_stride) {
  const VF factor = set(scale);
  for (std::int64_t p = 0; p < panels; ++p, panel += panel_width * size) {
    VF low[R], high[R];
    for (int r = 0; r < R; ++r) low[r] = high[r] = zero();
    for (std::int64_t d = 0; d < size; ++d) {
      const VF k0 = load(panel + d * panel_width), k1 = load(panel + d * panel_width + lanes);
      for (int r = 0; r < R; ++r) {
        const VF q = set(rows[r * row_stride + d]);
        low[r] = hn::MulAdd(q, k0, low[r]);
        high[r] = hn::MulAdd(q, k1, high[r]);
      }
    }
    for (int r = 0; r < R; ++r) {
      float* to = scores + r * score_stride + p * panel_width;
      store(hn::Mul(low[r], factor), to);
      store(hn::Mul(high[r], factor), to + lanes);
    }
  }
}

/// What weighted_rows is given. Row r of the result sums over common + r value rows: causality within the
/// block.
struct Weighted {
  const float* weights;
  std::int64_t weight_stride;
  const float* values;
  std::int64_t value_stride;
  std::int64_t common;  ///< Value rows that all rows but the first-seen diagonal share; see above.
  const float* scales;  ///< One factor per row, applied at the end.
  float* out;
  std::int64_t out_stride;
  bool accumulate;
};

/// Columns [c, c + V*lanes), or fewer (`count`) if Part, of R rows.
template <int R, int V, bool Part>
HWY_INLINE void weighted_columns(const Weighted& w, std::int64_t c, std::int64_t count) {
  VF sums[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) sums[r][v] = zero();
  }
  const float* value = w.values + c;
  for (std::int64_t j = 0; j < w.common; ++j, value += w.value_stride) {
    VF x[V];
    for (int v = 0; v < V; ++v) x[v] = Part ? load_part(value, count) : load(value + v * lanes);
    for (int r = 0; r < R; ++r) {
      const VF a = set(w.weights[r * w.weight_stride + j]);
      for (int v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(a, x[v], sums[r][v]);
    }
  }
  // The diagonal: value row common + i is seen by rows i + 1 and later.
  for (std::int64_t i = 0; i + 1 < R; ++i, value += w.value_stride) {
    VF x[V];
    for (int v = 0; v < V; ++v) x[v] = Part ? load_part(value, count) : load(value + v * lanes);
    for (int r = 1; r < R; ++r) {
      if (r <= i) continue;
      const VF a = set(w.weights[r * w.weight_stride + w.common + i]);
      for (int v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(a, x[v], sums[r][v]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      float* to = w.out + r * w.out_stride + c + v * lanes;
      VF y = hn::Mul(sums[r][v], set(w.scales[r]));
      if (w.accumulate) y = hn::Add(Part ? load_part(to, count) : load(to), y);
      Part ? store_part(y, to, count) : store(y, to);
    }
  }
}

/// out[r] = scales[r] * sum over j < common + r of weights[r][j] * values[j], or added to it.
template <int R>
void weighted_rows(const Weighted& w, std::int64_t size) {
  std::int64_t c = 0;
  for (; c + 2 * lanes <= size; c += 2 * lanes) weighted_columns<R, 2, false>(w, c, lanes);
  for (; c + lanes <= size; c += lanes) weighted_columns<R, 1, false>(w, c, lanes);
  if (c < size) weighted_columns<R, 1, true>(w, c, size - c);
}

/// Calls f.template operator()<R>() with R = rows, 1 to 6.
constexpr std::int64_t block_rows = 6;
template <class F>
HWY_INLINE void with_rows(std::int64_t rows, const F& f) {
  switch (rows) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    default:
      return f.template operator()<6>();
  }
}

/// Where the rows of one head lie.
struct Head {
  std::int64_t b, h, g;
  const AttentionParams& p;
  std::int64_t query(std::int64_t t) const { return p.q_batch * b + p.q_row * t + h * p.head_size; }
  std::int64_t key(std::int64_t j) const {
    return static_cast<std::int64_t>(p.kv_batch) * b + static_cast<std::int64_t>(p.kv_row) * j +
           g * p.head_size;
  }
  std::int64_t out(std::int64_t t) const {
    return ((b * p.tokens + t) * p.heads + h) * static_cast<std::int64_t>(p.head_size);
  }
  std::int64_t stats(std::int64_t t) const {
    return ((b * p.heads + h) * static_cast<std::int64_t>(p.tokens) + t) * 2;
  }
  /// Element number of the dropout draw of query t and key 0.
  std::uint64_t draw(std::int64_t t) const {
    const std::uint64_t sample = std::uint64_t{p.sample0} + static_cast<std::uint64_t>(b);
    const std::uint64_t head = sample * p.heads + static_cast<std::uint64_t>(h);
    return (head * p.tokens + static_cast<std::uint64_t>(t)) * p.keys;
  }
};

/// Queries (or keys) per task: enough rows to pay for packing.
constexpr std::int64_t segment = 192;

}  // namespace
}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
