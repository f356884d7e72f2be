// The attention sublayer: projections, rotary turn, causal attention with grouped key/value heads, output
// projection. Not here: the attention itself (ops/attention.h), the norm before it and the residual around it
// (transformer_block.h).
#pragma once
#include <cstdint>

#include "model/forward_context.h"
#include "model/model_config.h"
#include "nn/layers.h"
#include "ops/attention.h"

namespace llmtool {

class Attention : public Module {
 public:
  /// `layer` numbers its dropout stream.
  Attention(const ModelConfig& config, std::int64_t layer);

  /// x (B, T, C) -> (B, T, C). `rotary`: the table of ops::rotary_table, undefined for other positions.
  Tensor operator()(const Tensor& x, const Tensor& rotary, const ForwardContext& context) const;
  /// x (1, T, C) of positions position0..; appends to the caches (block, G D). Under NoGrad.
  Tensor cached(const Tensor& x, const Tensor& rotary, const Tensor& keys, const Tensor& values,
                std::int64_t position0) const;

 private:
  /// (B, T, (H + 2G) D), queries and keys turned.
  Tensor project(const Tensor& x, const Tensor& rotary, std::int64_t position0) const;

  ops::AttentionHeads heads_;
  std::int64_t head_size_;
  ops::RotaryStyle style_;
  float dropout_;
  std::uint32_t stream_;
  Linear q_, k_, v_, o_;
};

}  // namespace llmtool
