// Causal attention and the rotary positions that go before it.
#pragma once
#include <cstdint>

#include "ops/dropout.h"
#include "tensor/tensor.h"

namespace llmtool::ops {

enum class RotaryStyle { adjacent, half };

/// (positions, D/2, 2): cos and sin of p * theta^(-2i/D), made in double on the host.
/// (Su et al., "RoFormer", 2021.)
Tensor rotary_table(Device& device, std::int64_t positions, std::int64_t head_size, double theta);

/// x (B, T, H, D): the first `rotated` heads are turned by their positions position0 + t, the others copied.
/// D even. The backward turns back. Keeps nothing.
Tensor rotary(const Tensor& x, const Tensor& table, std::int64_t rotated, std::int64_t position0,
              RotaryStyle style);

struct AttentionHeads {
  std::int64_t n_head = 1;
  std::int64_t n_kv_head = 1;  ///< Divides n_head.
};

/// qkv (B, T, (H + 2G) D) -> (B, T, H D): causal softmax(q k^T / sqrt(D)) v, without ever storing T x T.
/// Dropout acts on the probabilities. Keeps qkv, the result and (B, H, T, 2) statistics.
Tensor attention(const Tensor& qkv, AttentionHeads heads, const Dropout& dropout = {});

/// For generation, under NoGrad: qkv (1, T, (H + 2G) D) of positions position0.., keys and values appended to
/// the caches (block, G D) each, then attention over all of them. The same bits as attention() over the whole
/// text.
Tensor attention_cached(const Tensor& qkv, AttentionHeads heads, const Tensor& k_cache, const Tensor& v_cache,
                        std::int64_t position0);

}  // namespace llmtool::ops
