// Normalisation over the last dimension.
#pragma once
#include "tensor/tensor.h"

namespace llmtool::ops {

/// (x - mean) / sqrt(var + eps) * gain + bias; var divides by C; bias may be undefined. Keeps x, gain, (mean,
/// rstd). (Ba et al., "Layer normalization", 2016.)
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float eps);
/// x / sqrt(mean(x^2) + eps) * gain. Keeps x, gain, rstd. (Zhang and Sennrich, "Root mean square layer
/// normalization", 2019.)
Tensor rms_norm(const Tensor& x, const Tensor& gain, float eps);

}  // namespace llmtool::ops
