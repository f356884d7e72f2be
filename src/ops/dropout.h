// Dropout whose mask is a function of (seed, step, stream, sample, element) and is never stored.
#pragma once
#include <cstdint>

#include "tensor/tensor.h"

namespace llmtool::ops {

/// One place that drops. p 0: does nothing. `stream` tells the places of a model apart; `sample0` is the
/// number within the step of the batch's first sample, so that accumulated micro-batches equal one larger
/// batch; `step_params` is the device's StepParams (as f32 words), which holds key and step.
struct Dropout {
  float p = 0;
  std::uint32_t stream = 0;
  std::int64_t sample0 = 0;
  Tensor step_params;
};

/// x (B, ...) -> x * keep / (1 - p). dx the same of dy. Keeps nothing.
Tensor dropout(const Tensor& x, const Dropout& dropout);

}  // namespace llmtool::ops
