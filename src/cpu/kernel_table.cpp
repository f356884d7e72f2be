// The table of one SIMD level, filled family by family; see kernel_table.h.
#include "cpu/kernel_table.h"

namespace llmtool::cpu {

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    KernelTable t;
    register_binary(t);
    register_unary(t);
    register_unary_backward(t);
    register_swiglu(t);
    register_reduce(t);
    register_softmax(t);
    register_layout(t);
    register_matmul(t);
    register_norms(t);
    register_rope(t);
    register_attention(t);
    register_attention_backward(t);
    register_dropout(t);
    register_cross_entropy(t);
    register_optimizers(t);
    return t;
  }();
  return table;
}

}  // namespace llmtool::cpu
