// recomputed(): a part of a model whose intermediate results are thrown away after the forward pass and made
// again when the backward pass reaches it: one more forward of that part, for the memory of its activations.
// (Chen et al., "Training deep nets with sublinear memory cost", 2016.) Not here: which parts (the model
// chooses its blocks).
#pragma once
#include <functional>

#include "tensor/tensor.h"

namespace llmtool {

/// y = f(x), of which only x is kept. The backward calls f once more on the same values, so f must give the
/// same result twice and must not read what changes between the passes (dropout draws by position, not by
/// call). Leaves that f uses (parameters) get their gradients as ever: losses and gradients are those of
/// f(x), bit for bit. Where x requires no gradient, this is f(x).
Tensor recomputed(const char* op, const Tensor& x, std::function<Tensor(const Tensor& x)> f);

}  // namespace llmtool
