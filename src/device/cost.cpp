// Counting work; see cost.h.
#include "device/cost.h"

#include <cstring>

namespace llmtool {
namespace {

template <class Params>
Params as(const void* params) noexcept {
  Params p;
  std::memcpy(&p, params, sizeof p);
  return p;
}

double matmul_flops(const MatmulParams& p) noexcept { return 2.0 * p.m * p.n * p.k * p.batch0 * p.batch1; }

/// Pairs of a query and a key it sees.
double attention_pairs(const AttentionParams& p) noexcept {
  return static_cast<double>(p.batch) * p.heads * p.tokens * (p.position0 + (p.tokens + 1.0) / 2);
}

}  // namespace

Cost cost_of(KernelId id, std::span<const View> views, const void* params) noexcept {
  Cost cost;
  for (const View& view : views) cost.bytes += static_cast<double>(view.bytes);
  // Products with the head size: q.k and p.v forward; backward q.k, dout.v, and one or two gradients.
  switch (id) {
    case KernelId::matmul:
      cost.flops = matmul_flops(as<MatmulParams>(params));
      break;
    case KernelId::attention: {
      const auto p = as<AttentionParams>(params);
      cost.flops = 2 * 2 * attention_pairs(p) * p.head_size;
      break;
    }
    case KernelId::attention_backward_q: {
      const auto p = as<AttentionParams>(params);
      cost.flops = 2 * 3 * attention_pairs(p) * p.head_size;
      break;
    }
    case KernelId::attention_backward_kv: {
      const auto p = as<AttentionParams>(params);
      cost.flops = 2 * 4 * attention_pairs(p) * p.head_size;
      break;
    }
    case KernelId::gather_rows:  // (table, ids, y): of the table as many rows as y has
      cost.bytes = static_cast<double>(2 * views[2].bytes + views[1].bytes);
      break;
    case KernelId::scatter_rows:  // (dy, plan, table): at most as many rows of the table, read and written
      cost.bytes = static_cast<double>(3 * views[0].bytes + views[1].bytes);
      cost.flops = static_cast<double>(views[0].bytes) / 4;
      break;
    default:
      cost.flops = cost.bytes / 4;
  }
  return cost;
}

}  // namespace llmtool
