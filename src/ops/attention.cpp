// Causal attention on joined queries, keys and values; see attention.h.
#include "ops/attention.h"

#include <cmath>

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

/// How one row of qkv, [H queries | G keys | G values] of D each, is divided.
struct Layout {
  std::int64_t batch = 0, tokens = 0, heads = 0, kv_heads = 0, head_size = 0;
  std::int64_t q_width() const { return heads * head_size; }
  std::int64_t kv_width() const { return kv_heads * head_size; }
  std::int64_t row() const { return q_width() + 2 * kv_width(); }
  View q(const Tensor& qkv) const { return columns(qkv, 0, q_width()); }
  View k(const Tensor& qkv) const { return columns(qkv, q_width(), kv_width()); }
  View v(const Tensor& qkv) const { return columns(qkv, q_width() + kv_width(), kv_width()); }
};

Layout layout(const char* op, const Tensor& qkv, AttentionHeads heads) {
  const Shape& shape = qkv.shape();
  if (heads.n_head < 1 || heads.n_kv_head < 1 || heads.n_head % heads.n_kv_head != 0) {
    throw request_error(
        cat("[", op, "] ", heads.n_kv_head, " key/value heads do not divide ", heads.n_head, " heads"));
  }
  const std::int64_t parts = heads.n_head + 2 * heads.n_kv_head;
  if (shape.rank() != 3 || shape[2] % parts != 0) {
    throw request_error(
        cat("[", op, "] qkv must be (B,T,(", heads.n_head, "+2*", heads.n_kv_head, ")*D), is ", shape.str()));
  }
  return {shape[0], shape[1], heads.n_head, heads.n_kv_head, shape[2] / parts};
}

AttentionParams attention_params(const Layout& l) {
  AttentionParams p{};
  p.batch = u32(l.batch);
  p.tokens = u32(l.tokens);
  p.keys = u32(l.tokens);
  p.heads = u32(l.heads);
  p.kv_heads = u32(l.kv_heads);
  p.head_size = u32(l.head_size);
  p.q_batch = u32(l.tokens * l.row());
  p.q_row = u32(l.row());
  p.kv_batch = p.q_batch;
  p.kv_row = p.q_row;
  p.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(l.head_size)));
  p.drop_scale = 1.0F;
  return p;
}

}  // namespace

Tensor attention(const Tensor& qkv, AttentionHeads heads, const Dropout& dropout) {
  const Layout l = layout("attention", qkv, heads);
  AttentionParams params = attention_params(l);
  params.drop_threshold = drop_threshold("attention", dropout);
  const bool drops = params.drop_threshold != 0;
  if (drops) {
    params.drop_scale = drop_scale(dropout);
    params.stream = dropout.stream;
    params.sample0 = u32(dropout.sample0);
  }
  const Tensor step = drops ? dropout.step_params : Tensor();
  Device& device = operands("attention", {qkv, step});
  Tensor out = Tensor::empty(device, {l.batch, l.tokens, l.q_width()});
  const Tensor stats = Tensor::empty(device, {l.batch, l.heads, l.tokens, 2});
  launch<KernelId::attention>(
      device, {l.q(qkv), l.k(qkv), l.v(qkv), drops ? step.view() : View{}, out.view(), stats.view()}, params);

  return record(
      "attention", out, {qkv},
      [l, params, stats, kept = Saved(qkv), out_kept = Saved(out), step_kept = Saved(step)](Backward& back) {
        const Tensor& x = kept.get();
        const View dout = back.grad().view();
        const View step_view = step_kept.defined() ? step_kept.get().view() : View{};
        launch<KernelId::attention_delta>(back.device(), {out_kept.get().view(), dout, stats.view()}, params);
        // dq, dk and dv are columns of one tensor; each launch writes its own columns and no others.
        const GradTarget dqkv = back.target(0);
        AttentionParams p = params;
        p.accumulate = dqkv.accumulate;
        launch<KernelId::attention_backward_q>(
            back.device(), {l.q(x), l.k(x), l.v(x), stats.view(), dout, step_view, l.q(dqkv.into)}, p);
        launch<KernelId::attention_backward_kv>(
            back.device(),
            {l.q(x), l.k(x), l.v(x), stats.view(), dout, step_view, l.k(dqkv.into), l.v(dqkv.into)}, p);
      });
}

Tensor attention_cached(const Tensor& qkv, AttentionHeads heads, const Tensor& k_cache, const Tensor& v_cache,
                        std::int64_t position0) {
  const Layout l = layout("attention_cached", qkv, heads);
  if (will_record({qkv})) throw request_error("[attention_cached] has no backward: use it under NoGrad");
  const Shape& cache = k_cache.shape();
  if (l.batch != 1 || cache.rank() != 2 || cache[1] != l.kv_width() || !(v_cache.shape() == cache)) {
    throw request_error(cat("[attention_cached] needs one sample and caches (block,", l.kv_width(), "): qkv ",
                            qkv.shape().str(), ", caches ", cache.str(), " and ", v_cache.shape().str()));
  }
  const std::int64_t keys = position0 + l.tokens;
  if (position0 < 0 || keys > cache[0]) {
    throw request_error(
        cat("[attention_cached] positions ", position0, " to ", keys - 1, " in a cache of ", cache[0]));
  }
  Device& device = operands("attention_cached", {qkv, k_cache, v_cache});

  PermuteParams append{};
  append.n = u32(l.tokens * l.kv_width());
  append.shape[0] = append.shape[1] = 1;
  append.shape[2] = u32(l.tokens);
  append.shape[3] = u32(l.kv_width());
  append.x_stride[2] = u32(l.row());
  append.x_stride[3] = 1;
  const auto place = [&](const Tensor& t) {
    return t.alias(position0 * l.kv_width(), {l.tokens, l.kv_width()}).view();
  };
  launch<KernelId::permute>(device, {l.k(qkv), place(k_cache)}, append);
  launch<KernelId::permute>(device, {l.v(qkv), place(v_cache)}, append);
  k_cache.mark_changed();
  v_cache.mark_changed();

  AttentionParams params = attention_params(l);
  params.keys = u32(keys);
  params.position0 = u32(position0);
  params.kv_row = u32(l.kv_width());
  params.kv_batch = u32(keys * l.kv_width());
  Tensor out = Tensor::empty(device, {1, l.tokens, l.q_width()});
  const Tensor stats = Tensor::empty(device, {1, l.heads, l.tokens, 2});
  const auto filled = [&](const Tensor& t) { return t.alias(0, {keys, l.kv_width()}).view(); };
  launch<KernelId::attention>(
      device, {l.q(qkv), filled(k_cache), filled(v_cache), View{}, out.view(), stats.view()}, params);
  return out;
}

}  // namespace llmtool::ops
