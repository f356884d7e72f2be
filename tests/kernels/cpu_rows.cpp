// The row rule: what a row gets does not depend on the rows computed with it, on the chunking of a prompt,
// nor on the number of threads. Bit for bit, at every SIMD level.
#include "kernels/cpu_support.h"
#include "support/catch.h"

using namespace llmtool;
using namespace llmtool::test;

namespace {

std::vector<float> numbers(std::size_t n, std::uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<std::int32_t>(seed) >> 8) * 0x1p-22f;
  }
  return v;
}

struct Shape {
  std::uint32_t keys, heads, kv_heads, size;
};

/// Queries first .. first + count of a sequence, against the cached keys before and among them.
std::vector<float> attend(cpu::SimdLevel level, const Shape& s, std::vector<float>& q, std::vector<float>& k,
                          std::vector<float>& v, std::uint32_t first, std::uint32_t count, int threads = 1) {
  const std::uint32_t width = s.heads * s.size;
  std::vector<float> some(q.begin() + first * width, q.begin() + (first + count) * width);
  std::vector<float> out(some.size()), stats(std::size_t{count} * s.heads * 2);
  AttentionParams p{};
  p.batch = 1;
  p.tokens = count;
  p.position0 = first;
  p.keys = first + count;
  p.heads = s.heads;
  p.kv_heads = s.kv_heads;
  p.head_size = s.size;
  p.q_row = width;
  p.kv_row = s.kv_heads * s.size;
  p.scale = 0.3f;
  call(level, KernelId::attention,
       {VectorView(some), VectorView(k), VectorView(v), View{}, VectorView(out), VectorView(stats)}, p,
       threads);
  return out;
}

}  // namespace

TEST_CASE("cpu rows: attention in any chunks equals attention at once") {
  for (const auto level : levels()) {
    INFO(std::string(name_of(level)));
    for (const Shape& s : {Shape{37, 2, 1, 20}, Shape{210, 1, 1, 32}, Shape{19, 4, 4, 5}}) {
      auto q = numbers(s.keys * s.heads * s.size, 1);
      auto k = numbers(s.keys * s.kv_heads * s.size, 2), v = numbers(s.keys * s.kv_heads * s.size, 3);
      const auto whole = attend(level, s, q, k, v, 0, s.keys);
      for (const std::uint32_t step : {1u, 4u, 7u}) {
        std::vector<float> parts;
        for (std::uint32_t t = 0; t < s.keys; t += step) {
          const auto part = attend(level, s, q, k, v, t, std::min(step, s.keys - t));
          parts.insert(parts.end(), part.begin(), part.end());
        }
        CHECK(parts == whole);
      }
    }
  }
}

TEST_CASE("cpu rows: later keys, even NaN, do not touch earlier queries") {
  const Shape s{40, 1, 1, 16};
  for (const auto level : levels()) {
    auto q = numbers(s.keys * s.size, 1), k = numbers(s.keys * s.size, 2), v = numbers(s.keys * s.size, 3);
    const auto clean = attend(level, s, q, k, v, 0, s.keys);
    for (std::uint32_t i = 21 * s.size; i < s.keys * s.size; ++i) k[i] = v[i] = NAN;
    const auto spoilt = attend(level, s, q, k, v, 0, s.keys);
    CHECK(std::equal(clean.begin(), clean.begin() + 21 * s.size, spoilt.begin()));
    CHECK(spoilt[21 * s.size] != spoilt[21 * s.size]);
  }
}

TEST_CASE("cpu rows: layer norm and softmax of one row equal those of many") {
  for (const auto level : levels()) {
    for (const std::uint32_t cols : {1u, 7u, 33u, 100u}) {
      const std::uint32_t rows = 9;
      auto x = numbers(rows * cols, 5), gain = numbers(cols, 6), bias = numbers(cols, 7);
      std::vector<float> y(x.size()), stats(rows * 2), soft(x.size());
      call(level, KernelId::layer_norm,
           {VectorView(x), VectorView(gain), VectorView(bias), VectorView(y), VectorView(stats)},
           NormParams{rows, cols, 1e-5f, 0});
      call(level, KernelId::softmax, {VectorView(x), VectorView(soft)}, RowsParams{rows, cols, 0});
      for (std::uint32_t r = 0; r < rows; ++r) {
        std::vector<float> one(x.begin() + r * cols, x.begin() + (r + 1) * cols), to(cols), one_stats(2);
        call(level, KernelId::layer_norm,
             {VectorView(one), VectorView(gain), VectorView(bias), VectorView(to), VectorView(one_stats)},
             NormParams{1, cols, 1e-5f, 0});
        CHECK(std::equal(to.begin(), to.end(), y.begin() + r * cols));
        call(level, KernelId::softmax, {VectorView(one), VectorView(to)}, RowsParams{1, cols, 0});
        CHECK(std::equal(to.begin(), to.end(), soft.begin() + r * cols));
      }
    }
  }
}

TEST_CASE("cpu rows: sums of columns do not depend on the number of threads", "[threads]") {
  const std::uint32_t rows = 1000, cols = 70;
  auto x = numbers(std::size_t{rows} * cols, 8);
  for (const auto level : levels()) {
    const ReduceParams to_row{rows * cols, {1, 1, rows, cols}, {1, 1, 1, cols}, 1.0f, 0};
    const ReduceParams to_one{rows * cols, {1, 1, rows, cols}, {1, 1, 1, 1}, 1.0f, 0};
    std::vector<float> one(cols), three(cols), sum1(1), sum3(1);
    call(level, KernelId::sum_to, {VectorView(x), VectorView(one)}, to_row, 1);
    call(level, KernelId::sum_to, {VectorView(x), VectorView(three)}, to_row, 3);
    CHECK(one == three);
    call(level, KernelId::sum_to, {VectorView(x), VectorView(sum1)}, to_one, 1);
    call(level, KernelId::sum_to, {VectorView(x), VectorView(sum3)}, to_one, 3);
    CHECK(sum1 == sum3);
    double exact = 0;
    for (const float v : x) exact += static_cast<double>(v);
    CHECK(sum1[0] == Approx(exact).epsilon(1e-6));
  }
}
