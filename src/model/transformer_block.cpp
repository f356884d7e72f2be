// One transformer block; see transformer_block.h.
#include "model/transformer_block.h"

#include "ops/dropout.h"
#include "ops/elementwise.h"

namespace llmtool {

NormKind norm_kind(const ModelConfig& config) {
  return config.norm == "rmsnorm" ? NormKind::rmsnorm : NormKind::layernorm;
}

TransformerBlock::TransformerBlock(const ModelConfig& c, std::int64_t layer)
    : dropout_(static_cast<float>(c.dropout)),
      layer_(layer),
      norm1_(norm_kind(c), c.n_embd, static_cast<float>(c.norm_eps)),
      attn_(c, layer),
      norm2_(norm_kind(c), c.n_embd, static_cast<float>(c.norm_eps)),
      mlp_(c) {
  adopt("norm1", norm1_);
  adopt("attn", attn_);
  adopt("norm2", norm2_);
  adopt("mlp", mlp_);
}

Tensor TransformerBlock::operator()(const Tensor& x, const Tensor& rotary,
                                    const ForwardContext& context) const {
  const auto dropped = [&](const Tensor& branch, std::uint32_t stream) {
    return ops::dropout(branch, dropout_at(dropout_, stream, training(), context));
  };
  const Tensor h = x + dropped(attn_(norm1_(x), rotary, context), attention_residual_dropout_stream(layer_));
  return h + dropped(mlp_(norm2_(h)), mlp_residual_dropout_stream(layer_));
}

Tensor TransformerBlock::cached(const Tensor& x, const Tensor& rotary, const Tensor& keys,
                                const Tensor& values, std::int64_t position0) const {
  const Tensor h = x + attn_.cached(norm1_(x), rotary, keys, values, position0);
  return h + mlp_(norm2_(h));
}

}  // namespace llmtool
