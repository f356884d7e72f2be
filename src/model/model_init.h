// How the linear layers of a block start, for both values of the `init` option. Not here: embeddings and the
// head, which are normal(0.02) in both.
#pragma once
#include "model/model_config.h"
#include "nn/layers.h"

namespace llmtool {

/// Standard deviation of embeddings, of an untied head, and of every matrix under gpt2 initialisation.
inline constexpr float embedding_std = 0.02f;

/// xavier: Linear::xavier. gpt2: normal(0.02), and for the projections back into the residual stream (attn.o,
/// mlp.down) 0.02 / sqrt(2 n_layer), since 2 n_layer of them add up there. (Radford et al., "Language models
/// are unsupervised multitask learners", 2019.)
Init linear_init(const ModelConfig& config, std::int64_t in, std::int64_t out, bool residual);

}  // namespace llmtool
