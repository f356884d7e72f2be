// The attention sublayer; see attention.h.
#include "model/attention.h"

#include "model/model_init.h"
#include "ops/shape_ops.h"

namespace llmtool {

Attention::Attention(const ModelConfig& c, std::int64_t layer)
    : heads_{c.n_head, c.kv_heads()},
      head_size_(c.head_size()),
      style_(c.rope_style == "half" ? ops::RotaryStyle::half : ops::RotaryStyle::adjacent),
      dropout_(static_cast<float>(c.dropout)),
      stream_(attention_dropout_stream(layer)),
      q_(c.n_embd, c.n_embd, c.attn_bias, linear_init(c, c.n_embd, c.n_embd, false)),
      k_(c.n_embd, heads_.n_kv_head * head_size_, c.attn_bias,
         linear_init(c, c.n_embd, heads_.n_kv_head * head_size_, false), true),
      v_(c.n_embd, heads_.n_kv_head * head_size_, c.attn_bias,
         linear_init(c, c.n_embd, heads_.n_kv_head * head_size_, false), true),
      o_(c.n_embd, c.n_embd, c.attn_bias, linear_init(c, c.n_embd, c.n_embd, true)) {
  adopt("q", q_);
  adopt("k", k_);
  adopt("v", v_);
  adopt("o", o_);
}

Tensor Attention::project(const Tensor& x, const Tensor& rotary, std::int64_t position0) const {
  const Tensor weights[] = {q_.weight(), k_.weight(), v_.weight()};
  const Tensor biases[] = {q_.bias(), k_.bias(), v_.bias()};
  const Tensor qkv = ops::linear_joined(x, weights, biases);
  if (!rotary.defined()) return qkv;
  const std::int64_t all = heads_.n_head + 2 * heads_.n_kv_head;
  const Tensor split = ops::reshape(qkv, Shape{x.shape()[0], x.shape()[1], all, head_size_});
  const Tensor turned = ops::rotary(split, rotary, heads_.n_head + heads_.n_kv_head, position0, style_);
  return ops::reshape(turned, qkv.shape());
}

Tensor Attention::operator()(const Tensor& x, const Tensor& rotary, const ForwardContext& context) const {
  return o_(
      ops::attention(project(x, rotary, 0), heads_, dropout_at(dropout_, stream_, training(), context)));
}

Tensor Attention::cached(const Tensor& x, const Tensor& rotary, const Tensor& keys, const Tensor& values,
                         std::int64_t position0) const {
  return o_(ops::attention_cached(project(x, rotary, position0), heads_, keys, values, position0));
}

}  // namespace llmtool
