// The feed-forward sublayer; see mlp.h.
#include "model/mlp.h"

#include "model/model_init.h"
#include "ops/unary.h"

namespace llmtool {
namespace {

ops::Activation activation_of(const std::string& mlp) {
  if (mlp == "gelu") return ops::Activation::gelu;
  if (mlp == "gelu_exact") return ops::Activation::gelu_exact;
  if (mlp == "relu") return ops::Activation::relu;
  return ops::Activation::none;
}

}  // namespace

Mlp::Mlp(const ModelConfig& c)
    : activation_(activation_of(c.mlp)),
      gate_(c.mlp == "swiglu" ? std::make_unique<Linear>(c.n_embd, c.hidden(), c.mlp_bias,
                                                         linear_init(c, c.n_embd, c.hidden(), false))
                              : nullptr),
      up_(c.n_embd, c.hidden(), c.mlp_bias, linear_init(c, c.n_embd, c.hidden(), false), gate_ != nullptr),
      down_(c.hidden(), c.n_embd, c.mlp_bias, linear_init(c, c.hidden(), c.n_embd, true)) {
  if (gate_) adopt("gate", *gate_);
  adopt("up", up_);
  adopt("down", down_);
}

Tensor Mlp::operator()(const Tensor& x) const {
  if (!gate_) return down_(up_(x, activation_));
  const Tensor weights[] = {gate_->weight(), up_.weight()};
  const Tensor biases[] = {gate_->bias(), up_.bias()};
  return down_(ops::swiglu(ops::linear_joined(x, weights, biases)));
}

}  // namespace llmtool
