// The parameters of a matrix product whose matrices lie without gaps. Not here: products of parts of larger
// matrices (ops/matmul.h).
#pragma once
#include "kernels/params.h"

namespace llmtool {

/// c (m, n) = op(a) op(b) from an inner size k, in the given form; `batch` matrices of each one after the
/// other. No bias, no activation; c is overwritten.
inline MatmulParams dense_matmul(std::uint32_t form, std::uint32_t m, std::uint32_t n, std::uint32_t k,
                                 std::uint32_t batch = 1) noexcept {
  MatmulParams p{};
  p.form = form;
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = form == LLMTOOL_MATMUL_TN ? m : k;
  p.ldb = form == LLMTOOL_MATMUL_NT ? k : n;
  p.ldc = n;
  p.batch0 = batch;
  p.batch1 = 1;
  p.a_batch[0] = m * k;
  p.b_batch[0] = n * k;
  p.c_batch[0] = m * n;
  return p;
}

}  // namespace llmtool
