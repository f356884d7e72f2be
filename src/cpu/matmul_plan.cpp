// How a matrix product is cut into parts; see matmul_plan.h.
#include "cpu/matmul_plan.h"

namespace llmtool::cpu {
namespace {

/// Whether entries `a_step` and `c_step` apart are further rows of one matrix. Columns of A (TN) cannot be
/// appended.
bool rows_follow(const MatmulParams& p, std::uint32_t a_step, std::uint32_t b_step,
                 std::uint32_t c_step) noexcept {
  const std::uint64_t m = p.m;
  return p.form != LLMTOOL_MATMUL_TN && b_step == 0 && a_step == m * p.lda && c_step == m * p.ldc;
}

}  // namespace

MatmulParams merge_batch(const MatmulParams& params) noexcept {
  MatmulParams p = params;
  if (p.batch1 > 1 && rows_follow(p, p.a_batch[1], p.b_batch[1], p.c_batch[1])) {
    p.m *= p.batch1;
    p.batch1 = 1;
  }
  if (p.batch1 == 1) {  // the outer level takes the place of the inner one
    p.batch1 = p.batch0;
    p.a_batch[1] = p.a_batch[0];
    p.b_batch[1] = p.b_batch[0];
    p.c_batch[1] = p.c_batch[0];
    p.batch0 = 1;
    if (p.batch1 > 1 && rows_follow(p, p.a_batch[1], p.b_batch[1], p.c_batch[1])) {
      p.m *= p.batch1;
      p.batch1 = 1;
    }
  }
  return p;
}

}  // namespace llmtool::cpu
