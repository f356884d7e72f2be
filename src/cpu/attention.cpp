// attention: the forward pass. A task is one key/value head and a segment of queries: keys are packed once
// into transposed panels, then six queries at a time get their scores, their softmax and their weighted
// values. The scores of six rows are all that is ever stored. Also attention_delta. Not here: the gradients
// (attention_backward.cpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/attention.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/attention-inl.h"
#include "cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Forward {
  const AttentionParams& p;
  const float *q, *k, *v;
  MaskSource mask;
  float *out, *stats;

  /// Rows t .. t + R - 1 of one head; panels hold the packed keys, scores R rows, factors one row (dropout).
  template <int R>
  void rows(const Head& head, std::int64_t t, const float* panels, float* scores, std::int64_t stride,
            float* factors) const {
    const std::int64_t size = p.head_size,
                       seen = p.position0 + t + 1;  // by the first row; one more by each next
    panel_scores<R>(q + head.query(t), p.q_row, size, panels, chunks_of(seen + R - 1, panel_width), p.scale,
                    scores, stride);
    float inverse[R];
    for (int r = 0; r < R; ++r) {
      float* row = scores + r * stride;
      const std::int64_t n = seen + r;
      const float max = row_max(row, n);
      const float sum = row_exp(row, max, row, n);
      inverse[r] = 1.0f / sum;
      stats[head.stats(t + r)] = max + static_cast<float>(std::log(static_cast<double>(sum)));
      if (p.drop_threshold > 0) {
        mask_factors(mask, head.draw(t + r), n, p.drop_threshold, p.drop_scale, factors);
        map_range<false>(
            0, n, row, [](VF e, VF f) HWY_ATTR { return hn::Mul(e, f); }, row, factors);
      }
    }
    weighted_rows<R>({scores, stride, v + head.key(0), p.kv_row, seen, inverse, out + head.out(t),
                      static_cast<std::int64_t>(p.heads) * size, false},
                     size);
  }
};

void attention(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const AttentionParams*>(params);
  const MaskSource mask = p.drop_threshold > 0 ? mask_source(views[3], p.stream) : MaskSource{};
  const Forward forward{p,    floats(views[0]), floats(views[1]), floats(views[2]),
                        mask, floats(views[4]), floats(views[5])};
  const std::int64_t keys = padded_keys(p.keys), size = p.head_size, group = p.heads / p.kv_heads;
  const std::int64_t segments = chunks_of(p.tokens, segment), tokens = p.tokens;
  context.reserve<float>(static_cast<std::size_t>(keys * (size + block_rows + 1)));
  const auto task = [&](std::int64_t chunk, int worker) HWY_ATTR {
    const std::int64_t s = chunk % segments, g = chunk / segments % p.kv_heads,
                       b = chunk / segments / p.kv_heads;
    const std::int64_t begin = s * segment, end = std::min(tokens, begin + segment);
    float* panels = context.scratch<float>(worker);
    float* scores = panels + keys * size;
    pack_panels(forward.k + Head{b, 0, g, p}.key(0), p.kv_row, p.position0 + end, size, panels);
    for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
      for (std::int64_t t = begin; t < end; t += block_rows) {
        with_rows(std::min(block_rows, end - t), [&]<int R>() HWY_ATTR {
          forward.rows<R>(Head{b, h, g, p}, t, panels, scores, keys, scores + block_rows * keys);
        });
      }
    }
  };
  const std::int64_t tasks = segments * p.kv_heads * p.batch;
  if (tokens * p.heads * p.batch * p.keys * size <= 8 * flat_chunk) {
    for (std::int64_t chunk = 0; chunk < tasks; ++chunk) task(chunk, 0);
  } else {
    context.pool().parallel_for(tasks, task);
  }
}

void attention_delta(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const AttentionParams*>(params);
  const float* out = floats(views[0]);
  const float* dout = floats(views[1]);
  float* stats = floats(views[2]);
  const std::int64_t size = p.head_size, heads = p.heads, tokens = p.tokens;
  in_rows(
      context, static_cast<std::int64_t>(p.batch) * tokens, heads * size, [&](std::int64_t r, int) HWY_ATTR {
        for (std::int64_t h = 0; h < heads; ++h) {
          const Row a{out + (r * heads + h) * size, size}, b{dout + (r * heads + h) * size, size};
          const std::int64_t at = ((r / tokens * heads + h) * tokens + r % tokens) * 2;
          stats[at + 1] = row_sum(size, [&](std::int64_t c) HWY_ATTR { return hn::Mul(a.at(c), b.at(c)); });
        }
      });
}

}  // namespace

void register_attention(KernelRow& row) {
  row[KernelId::attention] = attention;
  row[KernelId::attention_delta] = attention_delta;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_attention)
#endif
