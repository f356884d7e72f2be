// The gradients of attention. Scores and probabilities are made again from the log-sum-exp that the forward
// kept, a few queries at a time. With P the probabilities, D the dropout factors, dP = dout v^T: ds = P (D dP
// - delta), dq = scale ds k, dk = scale ds^T q, dv = (P D)^T dout. (Dao et al., "FlashAttention", 2022.)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/attention_backward.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/attention-inl.h"
#include "cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Backward {
  const AttentionParams& p;
  const float *q, *k, *v, *stats, *dout;
  MaskSource mask;

  /// For queries t .. t + R - 1 and keys first .. first + count(r), count growing by one per row: ds into
  /// `slopes` and the dropped-out probabilities into `probs` (R rows of `stride`). Panels hold keys and
  /// values from `first` on.
  template <int R>
  void slopes(const Head& head, std::int64_t t, std::int64_t first, std::int64_t limit,
              const float* key_panels, const float* value_panels, float* probs, float* slopes,
              std::int64_t stride, float* factors) const {
    const std::int64_t size = p.head_size, out_stride = static_cast<std::int64_t>(p.heads) * size;
    const std::int64_t seen = p.position0 + t + 1 - first;
    const std::int64_t panels = chunks_of(std::min(limit, seen + R - 1), panel_width);
    panel_scores<R>(q + head.query(t), p.q_row, size, key_panels, panels, p.scale, probs, stride);
    panel_scores<R>(dout + head.out(t), out_stride, size, value_panels, panels, 1.0f, slopes, stride);
    for (int r = 0; r < R; ++r) {
      const std::int64_t n = std::min(limit, seen + r);
      if (n <= 0) continue;
      float* prob = probs + r * stride;
      float* slope = slopes + r * stride;
      const VF lse = set(stats[head.stats(t + r)]), delta = set(stats[head.stats(t + r) + 1]);
      if (p.drop_threshold > 0) {
        mask_factors(mask, head.draw(t + r) + static_cast<std::uint64_t>(first), n, p.drop_threshold,
                     p.drop_scale, factors);
      }
      for (std::int64_t c = 0; c < n; c += lanes) {  // the rows are padded: whole vectors
        const VF e = exp_nonpositive(hn::Sub(load(prob + c), lse));
        VF kept = e, d = load(slope + c);
        if (p.drop_threshold > 0) {
          const VF f = load(factors + c);
          kept = hn::Mul(e, f);
          d = hn::Mul(d, f);
        }
        store(kept, prob + c);
        store(hn::Mul(e, hn::Sub(d, delta)), slope + c);
      }
    }
  }
};

Backward backward_of(const AttentionParams& p, std::span<const View> views) {
  const MaskSource mask = p.drop_threshold > 0 ? mask_source(views[5], p.stream) : MaskSource{};
  return {p, floats(views[0]), floats(views[1]), floats(views[2]), floats(views[3]), floats(views[4]), mask};
}

bool small(const AttentionParams& p) {
  return std::int64_t{p.tokens} * p.heads * p.batch * p.keys * p.head_size <= 4 * flat_chunk;
}

void attention_backward_q(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const AttentionParams*>(params);
  const Backward backward = backward_of(p, views);
  float* dq = floats(views[6]);
  const std::int64_t keys = padded_keys(p.keys), size = p.head_size, group = p.heads / p.kv_heads;
  const std::int64_t segments = chunks_of(p.tokens, segment), tokens = p.tokens;
  context.reserve<float>(static_cast<std::size_t>(keys * (2 * size + 2 * block_rows + 1)));
  const auto task = [&](std::int64_t chunk, int worker) HWY_ATTR {
    const std::int64_t s = chunk % segments, g = chunk / segments % p.kv_heads,
                       b = chunk / segments / p.kv_heads;
    const std::int64_t begin = s * segment, end = std::min(tokens, begin + segment), seen = p.position0 + end;
    float* key_panels = context.scratch<float>(worker);
    float* value_panels = key_panels + keys * size;
    float* probs = value_panels + keys * size;
    float* slopes = probs + block_rows * keys;
    float* factors = slopes + block_rows * keys;
    pack_panels(backward.k + Head{b, 0, g, p}.key(0), p.kv_row, seen, size, key_panels);
    pack_panels(backward.v + Head{b, 0, g, p}.key(0), p.kv_row, seen, size, value_panels);
    for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
      const Head head{b, h, g, p};
      for (std::int64_t t = begin; t < end; t += block_rows) {
        with_rows(std::min(block_rows, end - t), [&]<int R>() HWY_ATTR {
          float scales[R];
          std::fill_n(scales, R, p.scale);
          backward.slopes<R>(head, t, 0, p.keys, key_panels, value_panels, probs, slopes, keys, factors);
          weighted_rows<R>({slopes, keys, backward.k + head.key(0), p.kv_row, p.position0 + t + 1, scales,
                            dq + head.query(t), p.q_row, p.accumulate != 0},
                           size);
        });
      }
    }
  };
  const std::int64_t tasks = segments * p.kv_heads * p.batch;
  if (small(p)) {
    for (std::int64_t chunk = 0; chunk < tasks; ++chunk) task(chunk, 0);
  } else {
    context.pool().parallel_for(tasks, task);
  }
}

/// to[j][c..] += scale * sum over rows r in [from, rows) of weights[r][j] * values[r][c..], for K
/// neighbouring keys j.
template <int K, int V, bool Part>
HWY_INLINE void update_columns(const float* weights, std::int64_t weight_stride, std::int64_t from,
                               std::int64_t rows, const float* values, std::int64_t value_stride, VF scale,
                               float* to, std::int64_t to_stride, std::int64_t count) {
  VF sums[K][V];
  for (int i = 0; i < K; ++i) {
    for (int v = 0; v < V; ++v) sums[i][v] = zero();
  }
  for (std::int64_t r = from; r < rows; ++r) {
    VF x[V];
    for (int v = 0; v < V; ++v) {
      const float* value = values + r * value_stride + v * lanes;
      x[v] = Part ? load_part(value, count) : load(value);
    }
    for (int i = 0; i < K; ++i) {
      const VF a = set(weights[r * weight_stride + i]);
      for (int v = 0; v < V; ++v) sums[i][v] = hn::MulAdd(a, x[v], sums[i][v]);
    }
  }
  for (int i = 0; i < K; ++i) {
    for (int v = 0; v < V; ++v) {
      float* at = to + i * to_stride + v * lanes;
      Part ? store_part(hn::MulAdd(scale, sums[i][v], load_part(at, count)), at, count)
           : store(hn::MulAdd(scale, sums[i][v], load(at)), at);
    }
  }
}
template <int K>
void update_keys(const float* weights, std::int64_t weight_stride, std::int64_t from, std::int64_t rows,
                 const float* values, std::int64_t value_stride, float scale, float* to,
                 std::int64_t to_stride, std::int64_t size) {
  const VF s = set(scale);
  std::int64_t c = 0;
  for (; c + 2 * lanes <= size; c += 2 * lanes) {
    update_columns<K, 2, false>(weights, weight_stride, from, rows, values + c, value_stride, s, to + c,
                                to_stride, lanes);
  }
  for (; c + lanes <= size; c += lanes) {
    update_columns<K, 1, false>(weights, weight_stride, from, rows, values + c, value_stride, s, to + c,
                                to_stride, lanes);
  }
  if (c < size) {
    update_columns<K, 1, true>(weights, weight_stride, from, rows, values + c, value_stride, s, to + c,
                               to_stride, size - c);
  }
}

/// Adds what rows [0, rows) of queries give to the keys [0, limit) of a segment; row r sees common + r of
/// them.
void update(const float* weights, std::int64_t stride, std::int64_t rows, std::int64_t common,
            std::int64_t limit, const float* values, std::int64_t value_stride, float scale, float* to,
            std::int64_t to_stride, std::int64_t size) {
  constexpr int together = 5;
  const std::int64_t shared = std::clamp<std::int64_t>(common, 0, limit);
  std::int64_t j = 0;
  for (; j + together <= shared; j += together) {
    update_keys<together>(weights + j, stride, 0, rows, values, value_stride, scale, to + j * to_stride,
                          to_stride, size);
  }
  // The rest of the shared keys, then the diagonal, whose keys are seen by the later rows only.
  for (; j < std::min(limit, common + rows - 1); ++j) {
    const std::int64_t from = std::max<std::int64_t>(0, j - common + 1);
    update_keys<1>(weights + j, stride, from, rows, values, value_stride, scale, to + j * to_stride,
                   to_stride, size);
  }
}

// A task is one key/value head and a segment of its keys; the queries that see them come in order, all heads
// of the group after each other.
void attention_backward_kv(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const AttentionParams*>(params);
  const Backward backward = backward_of(p, views);
  float* dk = floats(views[6]);
  float* dv = floats(views[7]);
  constexpr std::int64_t together =
      4 * block_rows;  // queries per update, so that dk and dv are touched less often
  const std::int64_t size = p.head_size, group = p.heads / p.kv_heads, tokens = p.tokens, all_keys = p.keys;
  const std::int64_t segments = chunks_of(all_keys, segment),
                     width = padded_keys(std::min(all_keys, segment));
  const std::int64_t out_stride = static_cast<std::int64_t>(p.heads) * size;
  context.reserve<float>(static_cast<std::size_t>(width * (2 * size + 2 * together + 1)));
  const auto task = [&](std::int64_t chunk, int worker) HWY_ATTR {
    const std::int64_t s = chunk % segments, g = chunk / segments % p.kv_heads,
                       b = chunk / segments / p.kv_heads;
    const std::int64_t first = s * segment, limit = std::min(all_keys, first + segment) - first;
    float* key_panels = context.scratch<float>(worker);
    float* value_panels = key_panels + width * size;
    float* probs = value_panels + width * size;
    float* slopes = probs + together * width;
    float* factors = slopes + together * width;
    const std::int64_t at = Head{b, 0, g, p}.key(first);
    pack_panels(backward.k + at, p.kv_row, limit, size, key_panels);
    pack_panels(backward.v + at, p.kv_row, limit, size, value_panels);
    if (p.accumulate == 0) {
      for (std::int64_t j = 0; j < limit; ++j) {
        std::fill_n(dk + at + j * p.kv_row, size, 0.0f);
        std::fill_n(dv + at + j * p.kv_row, size, 0.0f);
      }
    }
    // The first query that sees the first key of the segment, rounded down to a whole block.
    const std::int64_t start = std::max<std::int64_t>(0, first - p.position0) / together * together;
    for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
      const Head head{b, h, g, p};
      for (std::int64_t t = start; t < tokens; t += together) {
        const std::int64_t rows = std::min(together, tokens - t), common = p.position0 + t + 1 - first;
        for (std::int64_t r = 0; r < rows; r += block_rows) {
          with_rows(std::min(block_rows, rows - r), [&]<int R>() HWY_ATTR {
            backward.slopes<R>(head, t + r, first, limit, key_panels, value_panels, probs + r * width,
                               slopes + r * width, width, factors);
          });
        }
        update(probs, width, rows, common, limit, backward.dout + head.out(t), out_stride, 1.0f, dv + at,
               p.kv_row, size);
        update(slopes, width, rows, common, limit, backward.q + head.query(t), p.q_row, p.scale, dk + at,
               p.kv_row, size);
      }
    }
  };
  const std::int64_t tasks = segments * p.kv_heads * p.batch;
  if (small(p)) {
    for (std::int64_t chunk = 0; chunk < tasks; ++chunk) task(chunk, 0);
  } else {
    context.pool().parallel_for(tasks, task);
  }
}

}  // namespace

void register_attention_backward(KernelRow& row) {
  row[KernelId::attention_backward_q] = attention_backward_q;
  row[KernelId::attention_backward_kv] = attention_backward_kv;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_attention_backward)
#endif
