// GPT: a decoder-only transformer with every option of ModelConfig. Parameters:
//   wte.weight, [wpe.weight], blocks.N.{norm1,attn.{q,k,v,o},norm2,mlp.{[gate],up,down}}.{weight,bias}, norm,
//   [head.weight]
// Not here: training, sampling, the context rule of generation (generate).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/forward_context.h"
#include "model/kv_cache.h"
#include "model/model_config.h"
#include "model/transformer_block.h"
#include "nn/layers.h"
#include "ops/loss.h"

namespace llmtool {

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
  Tensor loss(const ops::Index& ids, const ops::Targets& targets, std::int64_t batch,
              const ForwardContext& context = {});
  /// One sequence, its next tokens: appends to the cache and gives the hidden states of these tokens (1, T,
  /// C). Under NoGrad.
  Tensor forward_cached(const ops::Index& ids, KvCache& cache);
  KvCache make_cache() const;

  /// Floating-point operations of one training step per token, 2 per multiply-add, the backward costing twice
  /// the forward: 6 per weight of the products (the head included, tied or not), and for causal attention
  /// over a full block, where a token sees (block_size + 1) / 2 keys on average, 6 n_layer n_embd (block_size
  /// + 1).
  double flops_per_token() const;

 private:
  Device& device() const { return wte_->weight().device(); }
  const Tensor& head_weight() const { return head_ ? head_->weight() : wte_->weight(); }
  void prepare_tables();
  /// Token and position embeddings (B, T, C) of positions position0...
  Tensor embed(const ops::Index& ids, std::int64_t batch, std::int64_t tokens, std::int64_t position0);
  /// 0 .. tokens - 1 as an index; kept, since training asks for the same one every step.
  const ops::Index& positions(std::int64_t tokens);

  ModelConfig config_;
  std::int64_t vocab_;
  std::unique_ptr<Embedding> wte_, wpe_;
  std::vector<std::unique_ptr<TransformerBlock>> blocks_;
  std::unique_ptr<Norm> norm_;
  std::unique_ptr<Linear> head_;
  Tensor rotary_table_;      ///< rope: cos and sin; made at the first forward.
  Tensor sinusoidal_table_;  ///< sinusoidal: (block_size, C); made at the first forward.
  std::vector<ops::Index> position_indices_;
};

/// (positions, width): sin(p / 10000^(2i/C)) at column 2i, cos of the same at 2i + 1, made in double on the
/// host. (Vaswani et al., "Attention is all you need", 2017.)
Tensor sinusoidal_table(Device& device, std::int64_t positions, std::int64_t width);

}  // namespace llmtool
