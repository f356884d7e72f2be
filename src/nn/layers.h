// The layers a GPT is made of, as modules: Linear, Embedding, LayerNorm, RMSNorm. Weights of Linear are [out,
// in].
#pragma once
#include "nn/module.h"
#include "ops/index.h"
#include "ops/matmul.h"

namespace llmtool {

/// y = act(x W^T + b), x (..., in) -> (..., out).
class Linear : public Module {
 public:
  /// `joins_previous`: see Parameter; of weight and bias both.
  Linear(std::int64_t in, std::int64_t out, bool bias, Init weight_init, bool joins_previous = false);
  /// With xavier(in, out) and zero bias.
  Linear(std::int64_t in, std::int64_t out, bool bias = true);
  /// Normal with std sqrt(2 / (in + out)). (Glorot and Bengio, "Understanding the difficulty of training deep
  /// feedforward neural networks", 2010.)
  static Init xavier(std::int64_t in, std::int64_t out);
  Tensor operator()(const Tensor& x, ops::Activation activation = ops::Activation::none) const;
  const Tensor& weight() const { return weight_.tensor; }
  Tensor bias() const { return bias_ ? bias_->tensor : Tensor(); }

 private:
  Parameter& weight_;
  Parameter* bias_;
};

/// Rows of a table (count, width) by id.
class Embedding : public Module {
 public:
  Embedding(std::int64_t count, std::int64_t width, Init init);
  Tensor operator()(const ops::Index& ids) const;  ///< (n, width)
  const Tensor& weight() const { return weight_.tensor; }

 private:
  Parameter& weight_;
};

enum class NormKind { layernorm, rmsnorm };

/// LayerNorm (gain and bias) or RMSNorm (gain) over the last dimension.
class Norm : public Module {
 public:
  Norm(NormKind kind, std::int64_t width, float eps);
  Tensor operator()(const Tensor& x) const;

 private:
  NormKind kind_;
  float eps_;
  Parameter& gain_;
  Parameter* bias_;
};

}  // namespace llmtool
