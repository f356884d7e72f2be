// GPT: a decoder-only transformer with every option of ModelConfig. Parameters:
//   wte.weight, [wpe.weight], blocks.N.{norm1,attn.{q,k,v,o},norm2,mlp.{[gate],up,down}}.{weight,bias}, norm, [head.weight]
// Not here: training, sampling, the context rule of generation (generate).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/block.h"
#include "model/kv_cache.h"
#include "model/model_config.h"
#include "nn/layers.h"
#include "ops/loss.h"

namespace llmtool {

/// What a training forward needs beside the tokens; empty for evaluation.
struct ForwardContext {
  Tensor step_params;         ///< For dropout's key and step; undefined: no dropout.
  std::int64_t sample0 = 0;   ///< Number within the step of the first sample of this micro-batch.
};

class GPT : public Module {
 public:
  GPT(const ModelConfig& config, std::int64_t vocab_size);

  const ModelConfig& config() const noexcept { return config_; }
  std::int64_t vocab_size() const noexcept { return vocab_; }

  /// ids (batch * tokens, row-major) -> hidden states after the last norm (B, T, C). T at most block_size.
  Tensor forward(const ops::Index& ids, std::int64_t batch, const ForwardContext& context = {});
  /// hidden (..., C) -> logits (..., V).
  Tensor logits(const Tensor& hidden) const;
  /// cross entropy of the next tokens, by ops::head_loss; must be the root of backward().
  Tensor loss(const ops::Index& ids, const ops::Targets& targets, std::int64_t batch, const ForwardContext& context = {});
  /// One sequence, its next tokens: appends to the cache and gives the hidden states of these tokens (1, T, C). Under NoGrad.
  Tensor forward_cached(const ops::Index& ids, KvCache& cache);
  KvCache make_cache() const;

  /// Floating-point operations of one training step per token (forward and backward, 2 per multiply-add): 6 per
  /// parameter of the products, and attention's share at the full block.
  double flops_per_token() const;

 private:
  void prepare_tables();
  ModelConfig config_;
  std::int64_t vocab_;
  std::unique_ptr<Embedding> wte_, wpe_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> norm_;
  std::unique_ptr<Linear> head_;
  Tensor position_table_;  ///< rope: cos and sin; sinusoidal: (block, C); made at the first forward.
};

}  // namespace llmtool
