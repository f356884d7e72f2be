// The matmul kernel's values: every form, size, stride, batch and epilogue against the naive product in
// double.
#include <limits>

#include "kernels/matmul_support.h"
#include "support/catch.h"

using namespace llmtool;
using llmtool::test::MatmulCase;

namespace {

constexpr std::uint32_t forms[] = {LLMTOOL_MATMUL_NN, LLMTOOL_MATMUL_NT, LLMTOOL_MATMUL_TN};

/// Runs at every level; the number of wrong elements in all.
int wrong_at_all_levels(const MatmulCase& t, ThreadPool& pool) {
  int wrong = 0;
  for (const cpu::SimdLevel level : test::matmul_levels()) {
    MatmulCase run = t;
    run.run(level, pool);
    wrong += test::wrong_elements(run, t.c);
  }
  return wrong;
}

}  // namespace

TEST_CASE("matmul: all forms at sizes 1 to 40", "[matmul]") {
  ThreadPool pool(1);
  std::uint32_t state = 7;
  const auto draw = [&] {
    state = state * 1664525u + 1013904223u;
    return 1 + (state >> 16) % 40;
  };
  for (const std::uint32_t form : forms) {
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t m = draw(), n = draw(), k = draw();
      MatmulCase t = MatmulCase::make(form, m, n, k, i % 4);
      t.p.accumulate = i % 3 == 0;
      t.with_bias = i % 3 == 1;
      INFO("form " << form << " m " << m << " n " << n << " k " << k << " pad " << i % 4);
      CHECK(wrong_at_all_levels(t, pool) == 0);
    }
    for (std::uint32_t m = 1; m <= 13; ++m) {
      for (const std::uint32_t n : {1u, 7u, 8u, 9u, 16u, 17u, 33u, 65u}) {
        INFO("form " << form << " m " << m << " n " << n);
        CHECK(wrong_at_all_levels(MatmulCase::make(form, m, n, 11, 1), pool) == 0);
      }
    }
  }
}

TEST_CASE("matmul: inner sizes of several blocks, many rows and columns", "[matmul]") {
  ThreadPool pool(2);
  for (const std::uint32_t form : forms) {
    for (const auto& [m, n, k] :
         {std::array{3u, 70u, 1000u}, std::array{66u, 37u, 701u}, std::array{200u, 150u, 90u},
          std::array{97u, 300u, 65u}, std::array{70u, 20u, 2500u}}) {
      for (const std::uint32_t accumulate : {0u, 1u}) {
        MatmulCase t = MatmulCase::make(form, m, n, k, 3);
        t.p.accumulate = accumulate;
        t.with_bias = accumulate == 0;
        INFO("form " << form << " m " << m << " n " << n << " k " << k);
        CHECK(wrong_at_all_levels(t, pool) == 0);
      }
    }
  }
}

TEST_CASE("matmul: two batch levels, operands broadcast over either or both", "[matmul]") {
  ThreadPool pool(2);
  for (const std::uint32_t form : forms) {
    for (int shared = 0; shared < 8; ++shared) {
      for (const std::uint32_t m : {5u, 90u}) {
        MatmulCase t = MatmulCase::make(form, m, 19, 13, shared % 2, 3, 2);
        if (shared & 1) t.p.a_batch[0] = 0;
        if (shared & 2) t.p.b_batch[1] = 0;
        if (shared & 4) t.p.b_batch[0] = 0;
        if (shared == 5) t.p.a_batch[1] = 0;
        t.with_bias = true;
        INFO("form " << form << " m " << m << " shared " << shared);
        CHECK(wrong_at_all_levels(t, pool) == 0);
      }
    }
  }
}

TEST_CASE("matmul: batch of two, values by hand", "[matmul]") {
  ThreadPool pool(1);
  MatmulCase t = MatmulCase::make(LLMTOOL_MATMUL_NN, 1, 1, 2, 0, 2, 1);
  t.a = {1, 2, 3, 4};
  t.b = {5, 6, 7, 8};
  for (const cpu::SimdLevel level : test::matmul_levels()) {
    t.run(level, pool);
    CHECK(t.c == std::vector<float>{17, 53});
  }
}

TEST_CASE("matmul: interleaved matrices and huge strides", "[matmul]") {
  ThreadPool pool(1);
  // Heads side by side in rows, as attention has them.
  MatmulCase t = MatmulCase::make(LLMTOOL_MATMUL_NT, 10, 10, 16, 0, 2, 3);
  t.p.lda = t.p.ldb = 3 * 16;
  t.p.a_batch[1] = t.p.b_batch[1] = 16;
  t.p.a_batch[0] = t.p.b_batch[0] = 10 * 3 * 16;
  t.a.resize(2 * 10 * 48);
  t.b.resize(2 * 10 * 48);
  CHECK(wrong_at_all_levels(t, pool) == 0);

  for (const std::uint32_t form : forms) {
    MatmulCase h = MatmulCase::make(form, 4, 20, 5);
    h.p.lda = h.p.ldb = h.p.ldc = 100003;
    h.a = test::matmul_numbers(20 * 100003, 1);
    h.b = test::matmul_numbers(20 * 100003, 2);
    h.c = test::matmul_numbers(4 * 100003, 3);
    CHECK(wrong_at_all_levels(h, pool) == 0);
  }
}

TEST_CASE("matmul: without an inner size the result is 0, the bias, or what was there", "[matmul]") {
  ThreadPool pool(1);
  for (const std::uint32_t form : forms) {
    for (const std::uint32_t m : {2u, 100u}) {
      MatmulCase t = MatmulCase::make(form, m, 21, 0);
      t.p.lda = m;
      CHECK(wrong_at_all_levels(t, pool) == 0);
      t.with_bias = true;
      CHECK(wrong_at_all_levels(t, pool) == 0);
      t.with_bias = false;
      t.p.accumulate = 1;
      CHECK(wrong_at_all_levels(t, pool) == 0);
    }
  }
}

TEST_CASE("matmul: NaN and infinity stay in their row and column", "[matmul]") {
  ThreadPool pool(1);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const std::uint32_t form : forms) {
    for (const std::uint32_t m : {7u, 70u}) {
      for (const std::uint32_t activation : {LLMTOOL_ACT_NONE, LLMTOOL_ACT_RELU, LLMTOOL_ACT_GELU}) {
        for (const cpu::SimdLevel level : test::matmul_levels()) {
          MatmulCase t = MatmulCase::make(form, m, 21, 9);
          t.p.activation = activation;
          t.a[form == LLMTOOL_MATMUL_TN ? 3 * t.p.lda + 2 : 2 * t.p.lda + 3] = nan;  // (2, 3)
          t.b[form == LLMTOOL_MATMUL_NT ? 20 * t.p.ldb + 1 : t.p.ldb + 20] = inf;    // (1, 20)
          t.run(level, pool);
          for (std::uint32_t i = 0; i < m; ++i) {
            for (std::uint32_t j = 0; j < 21; ++j) {
              const float c = t.c[t.c_index(0, 0, i, j)];
              if (i == 2) {
                CHECK(std::isnan(c));
              } else if (j < 20) {
                CHECK(std::isfinite(c));
              } else if (activation == LLMTOOL_ACT_NONE) {
                CHECK(std::isinf(c));
              }
            }
          }
        }
      }
    }
  }
}
