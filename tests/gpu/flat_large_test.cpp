// Elementwise kernels and sums over more elements than a grid has threads, and Philox words of indices beyond
// 2^32. Not here: small sizes (matrix_test.cpp).
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "base/cat.h"
#include "base/rng.h"
#include "gpu/memory.h"
#include "gpu/support.h"

using namespace llmtool;

using gpu_test::Memory;

namespace {

constexpr std::uint32_t large = 65535 * 256 + 1000;  // more than one element for some threads

}  // namespace

TEST_CASE("large: every element of an elementwise kernel is done, and once") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  Memory x(*device, large), y(*device, large), sum(*device, 1);
  x.fill(2);
  y.fill(5);
  launch<KernelId::affine>(*device, {x.view, y.view}, {large, 3, 1, 1});  // 5 + (3*2 + 1)
  const ReduceParams all{large, {1, 1, 1, large}, {1, 1, 1, 1}, 1, 0};
  launch<KernelId::sum_to>(*device, {y.view, sum.view}, all);
  CHECK(y.read(0, 3) == std::vector<float>{12, 12, 12});
  CHECK(y.read(large - 3, 3) == std::vector<float>{12, 12, 12});
  // Exact in a sum that keeps what rounding loses, but for the last rounding.
  CHECK(std::abs(sum.read()[0] / (12.0 * large) - 1) < 2e-7);
}

TEST_CASE("large: broadcasting over more rows than fit one grid") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::uint32_t cols = 3, rows = large / cols;
  Memory a(*device, rows), b(*device, cols), y(*device, std::uint64_t{rows} * cols);
  a.fill(1);
  const std::array last{100.0f};
  const std::array row{1.0f, 2.0f, 3.0f};
  device->stage(a.part(rows - 1, 1), std::as_bytes(std::span(last)));
  device->stage(b.view, std::as_bytes(std::span(row)));
  const BroadcastParams p{rows * cols, {1, 1, rows, cols}, {0, 0, 1, 0}, {0, 0, 0, 1}, 0};
  launch<KernelId::add>(*device, {a.view, b.view, y.view}, p);
  CHECK(y.read(std::uint64_t{rows - 2} * cols, 6) == std::vector<float>{2, 3, 4, 101, 102, 103});
}

TEST_CASE("large: dropout draws the words of 64-bit indices") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::uint32_t n = 1003;
  Memory x(*device, n), step_params(*device, 12), y(*device, n);
  x.fill(1);
  StepParams step{};
  step.step = 9;
  step.dropout_key0 = 0x12345678;
  step.dropout_key1 = 0x9abcdef0;
  device->stage(step_params.view, std::as_bytes(std::span(&step, 1)));
  DropoutParams p{};
  p.n = n;
  p.per_sample = 0xfffffff1u;
  p.sample0 = 0xfffffff3u;
  p.stream = 77;
  p.threshold = 0x80000000u;
  p.scale = 2;
  launch<KernelId::dropout>(*device, {x.view, step_params.view, y.view}, p);
  const std::vector<float> got = y.read();
  const std::uint64_t first = std::uint64_t{p.sample0} * p.per_sample;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint64_t block = (first + i) / 4;
    const PhiloxBlock words =
        philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 77, 9},
               {step.dropout_key0, step.dropout_key1});
    INFO(i);
    REQUIRE(got[i] == (words[(first + i) % 4] >= p.threshold ? 2.0f : 0.0f));
  }
}
