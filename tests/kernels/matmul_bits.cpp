// The matmul kernel's bits: an element is the same chain whatever is computed beside it, however it is
// transposed, cut or spread over threads.
#include "kernels/matmul_support.h"
#include "support/catch.h"

using namespace llmtool;
using llmtool::test::MatmulCase;

namespace {

constexpr std::uint32_t forms[] = {LLMTOOL_MATMUL_NN, LLMTOOL_MATMUL_NT, LLMTOOL_MATMUL_TN};

std::vector<float> transposed(const std::vector<float>& x, std::size_t rows, std::size_t cols) {
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) y[j * rows + i] = x[i * cols + j];
  }
  return y;
}

}  // namespace

TEST_CASE("matmul: a product of few rows has the bits of the same rows among many", "[matmul]") {
  ThreadPool pool(2);
  for (const cpu::SimdLevel level : test::matmul_levels()) {
    for (const std::uint32_t form : forms) {
      for (const std::uint32_t n : {65u, 40u}) {
        constexpr std::uint32_t many = 150, k = 777;
        MatmulCase big = MatmulCase::make(form, many, n, k);
        big.with_bias = true;
        big.p.activation = LLMTOOL_ACT_GELU;
        big.run(level, pool);
        for (const std::uint32_t m : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 13u, 64u, 65u, 149u}) {
          MatmulCase t = MatmulCase::make(form, many, n, k);
          t.with_bias = true;
          t.p.activation = LLMTOOL_ACT_GELU;
          t.p.m = m;  // lda stays: the first m rows (columns, TN) of the same operand
          t.run(level, pool);
          INFO(cpu::name_of(level) << " form " << form << " m " << m << " n " << n);
          CHECK(std::memcmp(t.c.data(), big.c.data(), m * n * sizeof(float)) == 0);
        }
      }
    }
  }
}

TEST_CASE("matmul: an element is one chain of fused multiply-adds", "[matmul]") {
  ThreadPool pool(1);
  for (const cpu::SimdLevel level : {cpu::SimdLevel::avx2, cpu::SimdLevel::avx512, cpu::SimdLevel::neon}) {
    if (!cpu::supported(level)) continue;
    for (const std::uint32_t m : {3u, 80u}) {
      for (const std::uint32_t accumulate : {0u, 1u}) {
        MatmulCase t = MatmulCase::make(LLMTOOL_MATMUL_NN, m, 35, 900);
        t.p.accumulate = accumulate;
        const std::vector<float> before = t.c;
        t.run(level, pool);
        int wrong = 0;
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < 35; ++j) {
            float chain = accumulate != 0 ? before[i * 35 + j] : 0.0f;
            for (std::size_t q = 0; q < 900; ++q) chain = std::fma(t.a[i * 900 + q], t.b[q * 35 + j], chain);
            if (chain != t.c[i * 35 + j]) ++wrong;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("matmul: the transposed forms have the bits of NN on transposed copies", "[matmul]") {
  ThreadPool pool(1);
  for (const cpu::SimdLevel level : test::matmul_levels()) {
    for (const std::uint32_t m : {1u, 4u, 8u, 33u, 100u}) {
      for (const std::uint32_t n : {9u, 70u}) {
        for (const std::uint32_t k : {6u, 403u}) {
          MatmulCase nn = MatmulCase::make(LLMTOOL_MATMUL_NN, m, n, k);
          MatmulCase nt = MatmulCase::make(LLMTOOL_MATMUL_NT, m, n, k);
          MatmulCase tn = MatmulCase::make(LLMTOOL_MATMUL_TN, m, n, k);
          nt.b = transposed(nn.b, k, n);
          tn.a = transposed(nn.a, m, k);
          nn.run(level, pool);
          nt.run(level, pool);
          tn.run(level, pool);
          INFO(cpu::name_of(level) << " m " << m << " n " << n << " k " << k);
          CHECK(test::same_bytes(nn.c, nt.c));
          CHECK(test::same_bytes(nn.c, tn.c));
        }
      }
    }
  }
}

TEST_CASE("matmul: the same bytes with 1, 2 and 3 threads", "[matmul][threads]") {
  ThreadPool one(1), two(2), three(3);
  for (const std::uint32_t form : forms) {
    for (const auto& [m, n, k, batch] : {std::array{150u, 130u, 400u, 1u}, std::array{8u, 700u, 200u, 1u},
                                         std::array{32u, 32u, 16u, 40u}, std::array{90u, 33u, 20u, 3u}}) {
      MatmulCase t = MatmulCase::make(form, m, n, k, 1, batch, 1);
      t.with_bias = t.with_pre = true;
      t.p.activation = LLMTOOL_ACT_GELU_EXACT;
      MatmulCase t2 = t, t3 = t;
      const cpu::SimdLevel level = test::matmul_levels().back();
      t.run(level, one);
      t2.run(level, two);
      t3.run(level, three);
      INFO("form " << form << " m " << m);
      CHECK(test::same_bytes(t.c, t2.c));
      CHECK(test::same_bytes(t.c, t3.c));
      CHECK(test::same_bytes(t.pre, t3.pre));
    }
  }
}
