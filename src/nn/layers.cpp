// Linear, Embedding and Norm; see layers.h.
#include "nn/layers.h"

#include <cmath>

#include "ops/norm.h"

namespace llmtool {

Linear::Linear(std::int64_t in, std::int64_t out, bool bias, Init weight_init, bool joins_previous)
    : weight_(declare("weight", Shape{out, in}, weight_init, true, joins_previous)),
      bias_(bias ? &declare("bias", Shape{out}, Init::zeros(), false, joins_previous) : nullptr) {}

Linear::Linear(std::int64_t in, std::int64_t out, bool bias) : Linear(in, out, bias, xavier(in, out)) {}

Init Linear::xavier(std::int64_t in, std::int64_t out) {
  return Init::normal(static_cast<float>(std::sqrt(2.0 / static_cast<double>(in + out))));
}

Tensor Linear::operator()(const Tensor& x, ops::Activation activation) const {
  return ops::linear(x, weight_.tensor, bias(), activation);
}

Embedding::Embedding(std::int64_t count, std::int64_t width, Init init)
    : weight_(declare("weight", Shape{count, width}, init, true)) {}

Tensor Embedding::operator()(const ops::Index& ids) const { return ops::gather_rows(weight_.tensor, ids); }

Norm::Norm(NormKind kind, std::int64_t width, float eps)
    : kind_(kind),
      eps_(eps),
      gain_(declare("weight", Shape{width}, Init::ones(), false)),
      bias_(kind == NormKind::layernorm ? &declare("bias", Shape{width}, Init::zeros(), false) : nullptr) {}

Tensor Norm::operator()(const Tensor& x) const {
  if (kind_ == NormKind::rmsnorm) return ops::rms_norm(x, gain_.tensor, eps_);
  return ops::layer_norm(x, gain_.tensor, bias_->tensor, eps_);
}

}  // namespace llmtool
