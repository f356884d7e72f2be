// Keys and values of the tokens evaluated so far, per block, for generation of one sequence. Keys are kept
// after the rotary turn. Not here: what is dropped when the context is full (generate/generator.h).
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace llmtool {

struct KvCache {
  std::vector<Tensor> keys;  ///< Per block, (block_size, G D).
  std::vector<Tensor> values;
  std::int64_t length = 0;  ///< Tokens in it; the next token's position.
  void clear() noexcept { length = 0; }
};

}  // namespace llmtool
