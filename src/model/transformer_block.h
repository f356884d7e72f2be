// One transformer block, pre-norm: x + attn(norm1(x)), then x + mlp(norm2(x)), with dropout on both branches.
// (Xiong et al., "On layer normalization in the transformer architecture", 2020.)
#pragma once
#include <cstdint>

#include "model/attention.h"
#include "model/forward_context.h"
#include "model/mlp.h"
#include "model/model_config.h"
#include "nn/layers.h"

namespace llmtool {

/// The norm that the configuration asks for, n_embd wide.
NormKind norm_kind(const ModelConfig& config);

class TransformerBlock : public Module {
 public:
  /// `layer` counts from 0 and numbers its dropout streams.
  TransformerBlock(const ModelConfig& config, std::int64_t layer);

  /// x (B, T, C) -> (B, T, C); see Attention for `rotary`.
  Tensor operator()(const Tensor& x, const Tensor& rotary, const ForwardContext& context) const;
  /// The same for x (1, T, C) of positions position0.. after those in the caches. Under NoGrad.
  Tensor cached(const Tensor& x, const Tensor& rotary, const Tensor& keys, const Tensor& values,
                std::int64_t position0) const;

 private:
  float dropout_;
  std::int64_t layer_;
  Norm norm1_;
  Attention attn_;
  Norm norm2_;
  Mlp mlp_;
};

}  // namespace llmtool
