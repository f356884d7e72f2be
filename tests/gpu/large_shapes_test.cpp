// Products and attention of the sizes that get large tiles, parts of the inner dimension, the shader for few
// rows, wide heads and long caches: what the kernel matrix, whose cases are small, does not reach. Products
// are compared with loops in double here, since the reference device would take minutes.
#include <cmath>

#include "base/cat.h"
#include "device/matmul_params.h"
#include "gpu/support.h"
#include "kernels/case.h"
#include "kernels/run.h"

using namespace llmtool;
using namespace llmtool::kernel_test;

namespace {

struct Shape {
  std::uint32_t form, m, n, k, batch;
};

float at(const Operand& x, std::size_t i) { return std::bit_cast<float>(x.words[i]); }

/// c = a b + bias, or c += a b, contiguous, against loops in double.
void check_product(Device& device, const Shape& s, bool accumulate) {
  const bool tn = s.form == LLMTOOL_MATMUL_TN, nt = s.form == LLMTOOL_MATMUL_NT;
  MatmulParams p = dense_matmul(s.form, s.m, s.n, s.k, s.batch);
  p.accumulate = accumulate ? 1 : 0;
  const std::size_t size = std::size_t{s.m} * s.n;
  const Operand a = floats(uniform(std::size_t{s.batch} * s.m * s.k, 1, -1, 1)),
                b = floats(uniform(std::size_t{s.batch} * s.n * s.k, 2, -1, 1)),
                bias = accumulate ? absent() : floats(uniform(s.n, 3));
  const Operand before = result(s.batch * size, p.accumulate, 4);
  const Words got = run_case(device, make_case<KernelId::matmul>("large", {a, b, bias, absent(), before}, p));

  double worst = 0;
  std::vector<double> row(s.n);
  for (std::size_t z = 0; z < s.batch; ++z) {
    for (std::size_t i = 0; i < s.m; ++i) {
      for (std::size_t j = 0; j < s.n; ++j) {
        row[j] = accumulate ? static_cast<double>(at(before, z * size + i * s.n + j))
                            : static_cast<double>(at(bias, j));
      }
      for (std::size_t k = 0; k < s.k; ++k) {
        const double x = static_cast<double>(at(a, z * p.a_batch[0] + (tn ? k * s.m + i : i * s.k + k)));
        const std::size_t base = z * p.b_batch[0];
        for (std::size_t j = 0; j < s.n; ++j) {
          row[j] += x * static_cast<double>(at(b, base + (nt ? j * s.k + k : k * s.n + j)));
        }
      }
      for (std::size_t j = 0; j < s.n; ++j) {
        const auto y = static_cast<double>(std::bit_cast<float>(got[4][z * size + i * s.n + j]));
        if (!(std::abs(y - row[j]) <= worst)) worst = std::abs(y - row[j]);
      }
    }
  }
  CHECK(worst <= 5e-7 * std::sqrt(static_cast<double>(s.k)) + 1e-6);
}

AttentionParams attention_params(std::uint32_t tokens, std::uint32_t head_size, std::uint32_t position0,
                                 bool drop) {
  AttentionParams p{};
  p.batch = 1;
  p.tokens = tokens;
  p.keys = position0 + tokens;
  p.heads = 2;
  p.kv_heads = 1;
  p.head_size = head_size;
  p.position0 = position0;
  p.q_row = 2 * head_size;
  p.q_batch = tokens * p.q_row;
  p.kv_row = head_size;
  p.kv_batch = p.keys * p.kv_row;
  p.scale = 1 / std::sqrt(static_cast<float>(head_size));
  p.drop_threshold = drop ? 1u << 30 : 0;
  p.drop_scale = drop ? 4.0f / 3.0f : 1.0f;
  p.stream = 3;
  p.sample0 = 4'000'000'000u;  // the index of a probability needs 64 bits
  return p;
}

void check_case(Device& device, const Case& c) {
  INFO(kernel_info(c.id).name << " " << c.what);
  CHECK(difference(c, run_case(device, c), reference_of(c)) == "");
}

/// Forward and both gradients; the statistics are those of the reference.
void check_attention(Device& device, const AttentionParams& p, bool backward) {
  const std::string what = cat("tokens ", p.tokens, " head ", p.head_size, " from ", p.position0);
  const std::size_t queries = std::size_t{p.tokens} * p.q_row, keys = std::size_t{p.keys} * p.kv_row;
  StepParams words{};
  words.step = 5;
  words.dropout_key0 = 11;
  words.dropout_key1 = 12;
  const Operand q = floats(uniform(queries, 1, -1, 1)), k = floats(uniform(keys, 2, -1, 1)),
                v = floats(uniform(keys, 3)), dout = floats(uniform(queries, 4)),
                step = p.drop_threshold > 0 ? words_of(words) : absent();
  const Case forward = make_case<KernelId::attention>(
      what, {q, k, v, step, output(queries), output(std::size_t{p.tokens} * p.heads * 2)}, p, 4e-6, 1e-6);
  check_case(device, forward);
  if (!backward) return;
  const auto kept = reference_of(forward);
  const auto as_operand = [](const std::vector<double>& values) {
    return floats(std::vector<float>(values.begin(), values.end()));
  };
  const Case delta = make_case<KernelId::attention_delta>(
      what, {as_operand(kept[4]), dout, as_operand(kept[5])}, p, 2e-6, 1e-6);
  check_case(device, delta);
  const Operand stats = as_operand(reference_of(delta)[2]);
  check_case(device, make_case<KernelId::attention_backward_q>(
                         what, {q, k, v, stats, dout, step, output(queries)}, p, 4e-6, 4e-6));
  check_case(device, make_case<KernelId::attention_backward_kv>(
                         what, {q, k, v, stats, dout, step, output(keys), output(keys)}, p, 4e-6, 4e-6));
}

constexpr std::uint32_t nn = LLMTOOL_MATMUL_NN, nt = LLMTOOL_MATMUL_NT, tn = LLMTOOL_MATMUL_TN;

}  // namespace

TEST_CASE("large products: vulkan", "[large_products]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (const Shape& s :
       {Shape{nn, 250, 253, 21, 48}, Shape{nt, 252, 256, 20, 48}, Shape{tn, 128, 125, 9, 48},
        Shape{tn, 100, 70, 2100, 1}, Shape{nt, 8, 3001, 90, 1}, Shape{nt, 3, 2100, 256, 1}}) {
    DYNAMIC_SECTION("form " << s.form << " " << s.m << "x" << s.n << "x" << s.k << " batch " << s.batch) {
      check_product(*device, s, s.form == nn);
    }
  }
}

TEST_CASE("few rows: each is the same, however many there are: vulkan", "[large_products]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::uint32_t n = 37, k = 150;
  const auto a = uniform(std::size_t{8} * k, 1), b = uniform(std::size_t{n} * k, 2);
  std::vector<std::uint32_t> first;
  for (const std::uint32_t m : {1u, 2u, 3u, 8u}) {
    const MatmulParams p = dense_matmul(nt, m, n, k);
    const Operand rows = floats({a.begin(), a.begin() + m * k});
    const Case c =
        make_case<KernelId::matmul>("", {rows, floats(b), absent(), absent(), output(std::size_t{m} * n)}, p);
    auto row = run_case(*device, c)[4];
    row.resize(n);
    if (first.empty()) first = row;
    CHECK(row == first);
  }
}

TEST_CASE("wide heads and long caches: vulkan", "[large_products]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  check_attention(*device, attention_params(21, 256, 0, false), true);
  check_attention(*device, attention_params(70, 128, 3, true), true);
  check_attention(*device, attention_params(1, 64, 700, true), false);
  check_attention(*device, attention_params(1, 600, 30, false), false);
}

TEST_CASE("products without an inner dimension: vulkan", "[large_products]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (const std::uint32_t form : {nn, nt, tn}) {
    for (const std::uint32_t accumulate : {0u, 1u}) {
      MatmulParams p{};
      p.form = form;
      p.m = 5;
      p.n = p.ldb = p.ldc = 7;
      p.lda = 5;
      p.batch0 = p.batch1 = 1;
      p.accumulate = accumulate;
      p.activation = accumulate != 0 ? LLMTOOL_ACT_NONE : LLMTOOL_ACT_GELU;
      const Operand unread = output(4), bias = accumulate != 0 ? absent() : floats(uniform(7, 1));
      check_case(*device,
                 make_case<KernelId::matmul>(cat("form ", form, " accumulate ", accumulate),
                                             {unread, unread, bias, absent(), result(35, accumulate)}, p));
    }
  }
}
