// The row rule on the CPU: what a row gives does not depend, to the last bit, on the rows computed with it,
// nor on the number of threads. It is what makes decoding with the cache equal to computing everything anew.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/cat.h"
#include "cpu/simd_level.h"
#include "kernels/cpu_at_level.h"
#include "kernels/run.h"
#include "support/catch.h"

using namespace llmtool;
using namespace llmtool::kernel_test;

namespace {

const std::uint32_t batches[] = {2, 3, 7, 64, 65};

std::vector<float> part(const std::vector<float>& all, std::size_t begin, std::size_t count) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

/// The rows of a batch worth looking at: all of a small one, else its borders and some between.
std::vector<std::uint32_t> rows_of(std::uint32_t rows) {
  if (rows <= 7) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t r = 0; r < rows; ++r) all.push_back(r);
    return all;
  }
  return {0, 1, 5, 6, 31, 32, rows - 2, rows - 1};
}

bool same_words(const std::vector<std::uint32_t>& all, std::size_t begin,
                const std::vector<std::uint32_t>& row) {
  return begin + row.size() <= all.size() &&
         std::equal(row.begin(), row.end(), all.begin() + static_cast<std::ptrdiff_t>(begin));
}

/// make(first row, rows) gives the case on those rows. Every row alone must equal its row in each batch, in
/// argument `out`, whose rows have `width` words.
template <class Make>
void check_rows(Device& one, Device& three, const std::string& what, std::size_t out, std::size_t width,
                const Make& make) {
  for (const std::uint32_t rows : batches) {
    const Words all = run_case(one, make(0u, rows));
    INFO(what << ", " << rows << " rows");
    REQUIRE(run_case(three, make(0u, rows)) == all);
    for (const std::uint32_t r : rows_of(rows)) {
      INFO("row " << r);
      REQUIRE(same_words(all[out], r * width, run_case(one, make(r, 1u))[out]));
    }
  }
}

/// Runs body(device of one thread, device of three) at every SIMD level.
template <class Body>
void at_every_level(const Body& body) {
  for (const std::string& level : cpu::supported_levels()) {
    INFO("LLMTOOL_SIMD=" << level);
    const auto one = cpu_at_level(level, 1), three = cpu_at_level(level, 3);
    body(*one, *three);
  }
}

}  // namespace

TEST_CASE("row rule: matmul", "[threads]") {
  struct Sizes {
    std::uint32_t n, k;
  };
  at_every_level([](Device& one, Device& three) {
    for (const Sizes& s :
         {Sizes{1, 1}, Sizes{33, 17}, Sizes{64, 64}, Sizes{130, 70}, Sizes{48, 300}, Sizes{7, 1100}}) {
      const auto a = uniform(65 * s.k, 1), b = uniform(std::size_t{s.n} * s.k, 2), bias = uniform(s.n, 3);
      const auto before = uniform(65 * s.n, 4);
      for (const std::uint32_t form : {LLMTOOL_MATMUL_NN, LLMTOOL_MATMUL_NT}) {
        for (int epilogue = 0; epilogue < 3; ++epilogue) {
          const auto make = [&](std::uint32_t first, std::uint32_t rows) {
            MatmulParams p{};
            p.form = form;
            p.m = rows;
            p.n = s.n;
            p.k = s.k;
            p.lda = s.k;
            p.ldb = form == LLMTOOL_MATMUL_NT ? s.k : s.n;
            p.ldc = s.n;
            p.batch0 = p.batch1 = 1;
            p.accumulate = epilogue == 2;
            p.activation = epilogue == 1 ? LLMTOOL_ACT_GELU : LLMTOOL_ACT_NONE;
            const Operand c =
                epilogue == 2 ? floats(part(before, first * s.n, rows * s.n)) : output(rows * s.n);
            return make_case<KernelId::matmul>("",
                                               {floats(part(a, first * s.k, rows * s.k)), floats(b),
                                                epilogue == 1 ? floats(bias) : absent(), absent(), c},
                                               p);
          };
          check_rows(one, three, cat("form ", form, " n ", s.n, " k ", s.k, " epilogue ", epilogue), 4, s.n,
                     make);
        }
      }
    }
  });
}

TEST_CASE("row rule: norms and softmax", "[threads]") {
  at_every_level([](Device& one, Device& three) {
    for (const std::uint32_t cols : {1u, 3u, 17u, 64u, 127u, 300u}) {
      const auto x = uniform(65 * cols, 1, -3, 3), gain = uniform(cols, 2), bias = uniform(cols, 3);
      const auto in = [&](std::uint32_t first, std::uint32_t rows) {
        return floats(part(x, first * cols, rows * cols));
      };
      const auto norm = [&](std::uint32_t rows) {
        NormParams p{};
        p.rows = rows;
        p.cols = cols;
        p.eps = 1e-5f;
        return p;
      };
      check_rows(one, three, cat("layer_norm ", cols), 3, cols, [&](std::uint32_t first, std::uint32_t rows) {
        return make_case<KernelId::layer_norm>(
            "", {in(first, rows), floats(gain), floats(bias), output(rows * cols), output(2 * rows)},
            norm(rows));
      });
      check_rows(one, three, cat("rms_norm ", cols), 2, cols, [&](std::uint32_t first, std::uint32_t rows) {
        return make_case<KernelId::rms_norm>(
            "", {in(first, rows), floats(gain), output(rows * cols), output(rows)}, norm(rows));
      });
      check_rows(one, three, cat("softmax ", cols), 1, cols, [&](std::uint32_t first, std::uint32_t rows) {
        return make_case<KernelId::softmax>("", {in(first, rows), output(rows * cols)},
                                            RowsParams{rows, cols, 0});
      });
      check_rows(one, three, cat("log_softmax ", cols), 1, cols,
                 [&](std::uint32_t first, std::uint32_t rows) {
                   return make_case<KernelId::log_softmax>("", {in(first, rows), output(rows * cols)},
                                                           RowsParams{rows, cols, 0});
                 });
      check_rows(one, three, cat("swiglu ", cols), 1, cols, [&](std::uint32_t first, std::uint32_t rows) {
        const auto both = uniform(65 * 2 * cols, 5);
        return make_case<KernelId::swiglu>(
            "", {floats(part(both, first * 2 * cols, rows * 2 * cols)), output(rows * cols)},
            SwigluParams{rows, cols, 0});
      });
    }
  });
}

namespace {

/// Every element alone, at any place in a vector or its tail, gives the same bits.
template <KernelId id>
void check_function(Device& one, Device& three, float low, float high) {
  const auto x = uniform(65 * 5, 1, low, high);
  for (const std::uint32_t cols : {1u, 5u}) {
    const std::string what = cat(kernel_info(id).name, " ", cols, " a row");
    check_rows(one, three, what, 1, cols, [&](std::uint32_t first, std::uint32_t rows) {
      UnaryParams p{};
      p.n = rows * cols;
      return make_case<id>("", {floats(part(x, first * cols, p.n)), output(p.n)}, p);
    });
  }
}

}  // namespace

TEST_CASE("row rule: functions of one variable", "[threads]") {
  at_every_level([](Device& one, Device& three) {
    check_function<KernelId::exp>(one, three, -20, 20);
    check_function<KernelId::log>(one, three, 0.1f, 20);
    check_function<KernelId::sqrt>(one, three, 0, 20);
    check_function<KernelId::tanh>(one, three, -5, 5);
    check_function<KernelId::relu>(one, three, -5, 5);
    check_function<KernelId::gelu>(one, three, -5, 5);
    check_function<KernelId::gelu_exact>(one, three, -5, 5);
    check_function<KernelId::silu>(one, three, -20, 20);
  });
}

TEST_CASE("row rule: attention", "[threads]") {
  struct Heads {
    std::uint32_t heads, kv_heads, head_size;
  };
  at_every_level([](Device& one, Device& three) {
    for (const Heads& h :
         {Heads{2, 2, 16}, Heads{4, 1, 8}, Heads{2, 1, 5}, Heads{1, 1, 64}, Heads{3, 3, 33}}) {
      for (const std::uint32_t tokens : {2u, 3u, 7u, 64u, 65u, 200u}) {
        const std::uint32_t width = h.heads * h.head_size, kv_width = h.kv_heads * h.head_size;
        const auto q = uniform(std::size_t{tokens} * width, 1),
                   k = uniform(std::size_t{tokens} * kv_width, 2);
        const auto v = uniform(std::size_t{tokens} * kv_width, 3);
        // Queries [first, first + count) against the keys up to their last.
        const auto make = [&](std::uint32_t first, std::uint32_t count) {
          AttentionParams p{};
          p.batch = 1;
          p.tokens = count;
          p.keys = first + count;
          p.heads = h.heads;
          p.kv_heads = h.kv_heads;
          p.head_size = h.head_size;
          p.position0 = first;
          p.q_row = width;
          p.q_batch = count * width;
          p.kv_row = kv_width;
          p.kv_batch = p.keys * kv_width;
          p.scale = 1 / std::sqrt(static_cast<float>(h.head_size));
          p.drop_scale = 1;
          return make_case<KernelId::attention>(
              "",
              {floats(part(q, first * width, count * width)), floats(part(k, 0, p.kv_batch)),
               floats(part(v, 0, p.kv_batch)), absent(), output(count * width), output(2 * count * h.heads)},
              p);
        };
        INFO("heads " << h.heads << "/" << h.kv_heads << "x" << h.head_size << ", tokens " << tokens);
        const Words all = run_case(one, make(0, tokens));
        REQUIRE(run_case(three, make(0, tokens)) == all);
        auto queries = rows_of(std::min(tokens, 65u));
        if (tokens > 65) queries.insert(queries.end(), {127, 128, 129, tokens - 1});
        for (const std::uint32_t t : queries) {
          INFO("token " << t << " alone, then the rest from it");
          REQUIRE(same_words(all[4], std::size_t{t} * width, run_case(one, make(t, 1))[4]));
          REQUIRE(same_words(all[4], std::size_t{t} * width, run_case(one, make(t, tokens - t))[4]));
        }
      }
    }
  });
}
