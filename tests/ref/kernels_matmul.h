// Reference matrix product.
#pragma once
#include "ref/kernels_elementwise.h"

namespace llmtool::ref::kernels {

template <class T>
T activated(std::uint32_t activation, T x) {
  switch (activation) {
    case LLMTOOL_ACT_RELU:
      return relu_of(x);
    case LLMTOOL_ACT_GELU:
      return gelu_of(x);
    case LLMTOOL_ACT_GELU_EXACT:
      return gelu_exact_of(x);
    default:
      return x;
  }
}

template <class T>
void matmul(Arguments<T>& v, const MatmulParams& p) {
  LLMTOOL_CHECK(p.accumulate == 0 || (!v[2] && !v[3] && p.activation == LLMTOOL_ACT_NONE),
                "matmul: accumulate excludes bias, pre and activation");
  for (std::size_t b0 = 0; b0 < p.batch0; ++b0) {
    for (std::size_t b1 = 0; b1 < p.batch1; ++b1) {
      const std::size_t a0 = b0 * p.a_batch[0] + b1 * p.a_batch[1];
      const std::size_t bb = b0 * p.b_batch[0] + b1 * p.b_batch[1];
      const std::size_t c0 = b0 * p.c_batch[0] + b1 * p.c_batch[1];
      for (std::size_t i = 0; i < p.m; ++i) {
        for (std::size_t j = 0; j < p.n; ++j) {
          T sum(0);
          for (std::size_t k = 0; k < p.k; ++k) {
            const std::size_t a = p.form == LLMTOOL_MATMUL_TN ? k * p.lda + i : i * p.lda + k;
            const std::size_t b = p.form == LLMTOOL_MATMUL_NT ? j * p.ldb + k : k * p.ldb + j;
            sum += v[0].get(a0 + a) * v[1].get(bb + b);
          }
          if (v[2]) sum += v[2].get(j);
          const std::size_t c = c0 + i * p.ldc + j;
          if (v[3]) v[3].set(c, sum);
          v[4].put(c, activated(p.activation, sum));
        }
      }
    }
  }
}

}  // namespace llmtool::ref::kernels
