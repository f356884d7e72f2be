// The feed-forward sublayer: down(act(up(x))), or down(silu(gate(x)) * up(x)) for swiglu. Not here: the norm
// before it and the residual around it (transformer_block.h).
#pragma once
#include <memory>

#include "model/model_config.h"
#include "nn/layers.h"

namespace llmtool {

class Mlp : public Module {
 public:
  explicit Mlp(const ModelConfig& config);
  Tensor operator()(const Tensor& x) const;  ///< (..., C) -> (..., C)

 private:
  ops::Activation activation_;
  std::unique_ptr<Linear> gate_;  ///< swiglu only; declared before up, so that one product gives [gate | up].
  Linear up_, down_;
};

}  // namespace llmtool
