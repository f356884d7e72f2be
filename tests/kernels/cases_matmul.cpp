// Cases of the matrix product: every form, tails, batches, strides, prologues and epilogues.
#include <cmath>

#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

struct Sizes {
  std::uint32_t m, n, k;
};

const char* name_of(std::uint32_t form) {
  return form == LLMTOOL_MATMUL_NN ? "NN" : form == LLMTOOL_MATMUL_NT ? "NT" : "TN";
}

/// Rows x columns of a stored operand with `pad` more columns per row, which hold what must not be read.
std::vector<float> padded(std::size_t rows, std::size_t cols, std::size_t pad, std::uint64_t seed) {
  const auto values = uniform(rows * cols, seed, -1, 1);
  std::vector<float> out(rows * (cols + pad), std::nanf(""));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) out[r * (cols + pad) + c] = values[r * cols + c];
  }
  return out;
}

enum class Epilogue { plain, accumulate, bias, relu, bias_gelu_pre, gelu_exact_pre };

/// One product, `pad` columns between the rows of every operand, and between the matrices of a batch one row.
void add_product(Cases& cases, std::uint32_t form, Sizes s, Epilogue epilogue, std::uint32_t pad = 0,
                 std::uint32_t batch0 = 1, std::uint32_t batch1 = 1, bool share_a = false,
                 bool share_b = false) {
  const std::uint32_t a_rows = form == LLMTOOL_MATMUL_TN ? s.k : s.m,
                      a_cols = form == LLMTOOL_MATMUL_TN ? s.m : s.k;
  const std::uint32_t b_rows = form == LLMTOOL_MATMUL_NT ? s.n : s.k,
                      b_cols = form == LLMTOOL_MATMUL_NT ? s.k : s.n;
  MatmulParams p{};
  p.form = form;
  p.m = s.m;
  p.n = s.n;
  p.k = s.k;
  p.lda = a_cols + pad;
  p.ldb = b_cols + pad;
  p.ldc = s.n + pad;
  p.batch0 = batch0;
  p.batch1 = batch1;
  p.a_batch[1] = a_rows * p.lda;
  p.a_batch[0] = share_a ? 0 : batch1 * p.a_batch[1];
  p.b_batch[0] = b_rows * p.ldb;
  p.b_batch[1] = share_b ? 0 : batch0 * p.b_batch[0];
  p.c_batch[1] = s.m * p.ldc;
  p.c_batch[0] = batch1 * p.c_batch[1];
  const std::uint32_t all = batch0 * batch1;
  const std::uint64_t seed = s.m * 1000003u + s.n * 1009u + s.k;
  std::vector<Operand> operands{floats(padded(std::size_t{a_rows} * all, a_cols, pad, seed)),
                                floats(padded(std::size_t{b_rows} * all, b_cols, pad, seed + 1)), absent(),
                                absent(), output(std::size_t{s.m} * p.ldc * all)};
  const char* what = "";
  const auto bias = [&] { operands[2] = floats(uniform(s.n, seed + 2)); };
  const auto pre = [&] { operands[3] = output(operands[4].words.size()); };
  switch (epilogue) {
    case Epilogue::plain:
      break;
    case Epilogue::accumulate:
      what = " accumulate";
      p.accumulate = 1;
      operands[4] = floats(padded(std::size_t{s.m} * all, s.n, pad, seed + 3));
      break;
    case Epilogue::bias:
      what = " bias";
      bias();
      break;
    case Epilogue::relu:
      what = " relu";
      p.activation = LLMTOOL_ACT_RELU;
      break;
    case Epilogue::bias_gelu_pre:
      what = " bias gelu pre";
      bias();
      pre();
      p.activation = LLMTOOL_ACT_GELU;
      break;
    case Epilogue::gelu_exact_pre:
      what = " gelu_exact pre";
      pre();
      p.activation = LLMTOOL_ACT_GELU_EXACT;
      break;
  }
  const double noise = 6e-8 * std::sqrt(static_cast<double>(s.k)) + 1e-7;
  cases.push_back(make_case<KernelId::matmul>(
      cat(name_of(form), " ", s.m, "x", s.n, "x", s.k, what, " pad ", pad, " batch ", batch0, "x", batch1,
          share_a ? " shared a" : "", share_b ? " shared b" : ""),
      std::move(operands), p, 1e-6, noise));
}

}  // namespace

void add_matmul_cases(Cases& cases) {
  const Sizes list[] = {{1, 1, 1},    {1, 64, 33},  {2, 3, 15},    {3, 127, 16}, {15, 17, 31}, {16, 16, 16},
                        {17, 31, 64}, {33, 33, 33}, {64, 64, 64},  {127, 15, 2}, {5, 1, 127},  {1, 127, 1},
                        {1, 200, 65}, {7, 65, 130}, {65, 130, 70}, {3, 5, 1000}, {31, 2, 3},   {4, 96, 96}};
  for (const std::uint32_t form : {LLMTOOL_MATMUL_NN, LLMTOOL_MATMUL_NT, LLMTOOL_MATMUL_TN}) {
    for (const Sizes& s : list) {
      for (const Epilogue e : {Epilogue::plain, Epilogue::accumulate, Epilogue::bias, Epilogue::relu,
                               Epilogue::bias_gelu_pre, Epilogue::gelu_exact_pre}) {
        add_product(cases, form, s, e);
        if (s.m * s.n < 2000) add_product(cases, form, s, e, 5);
      }
    }
    for (const Epilogue e : {Epilogue::plain, Epilogue::accumulate, Epilogue::bias}) {
      const Sizes small{9, 18, 21};
      add_product(cases, form, small, e, 0, 2, 3);
      add_product(cases, form, small, e, 3, 3, 2);
      add_product(cases, form, small, e, 0, 2, 3, true, false);
      add_product(cases, form, small, e, 0, 2, 3, false, true);
      add_product(cases, form, {1, 40, 16}, e, 0, 4, 2);
    }
    add_product(cases, form, {70, 150, 300}, Epilogue::plain);
    add_product(cases, form, {70, 150, 300}, Epilogue::accumulate);
    add_product(cases, form, {6, 530, 40}, Epilogue::bias_gelu_pre);
  }
}

}  // namespace llmtool::kernel_test
