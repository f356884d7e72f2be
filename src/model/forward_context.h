// What a training forward needs beside the tokens. Not here: the tokens, and what evaluation needs (nothing).
#pragma once
#include <cstdint>

#include "ops/dropout.h"
#include "tensor/tensor.h"

namespace llmtool {

/// Empty for evaluation.
struct ForwardContext {
  Tensor step_params;        ///< For dropout's key and step; undefined: no dropout.
  std::int64_t sample0 = 0;  ///< Number within the step of the first sample of this micro-batch.
  /// Keep each block's input alone and make its activations again in the backward pass (tensor/recompute.h);
  /// the model must then outlive the graph.
  bool recompute = false;
};

/// The numbers of the places that drop: the embedding, then three per block.
constexpr std::uint32_t embedding_dropout_stream = 0;
constexpr std::uint32_t attention_dropout_stream(std::int64_t block) {
  return static_cast<std::uint32_t>(3 * block + 1);
}
constexpr std::uint32_t attention_residual_dropout_stream(std::int64_t block) {
  return static_cast<std::uint32_t>(3 * block + 2);
}
constexpr std::uint32_t mlp_residual_dropout_stream(std::int64_t block) {
  return static_cast<std::uint32_t>(3 * block + 3);
}

/// One place's dropout; p 0 outside training or without step_params.
inline ops::Dropout dropout_at(float p, std::uint32_t stream, bool training, const ForwardContext& context) {
  if (!training || !context.step_params.defined()) return {};
  return {p, stream, context.sample0, context.step_params};
}

}  // namespace llmtool
