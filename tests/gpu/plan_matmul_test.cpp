// Plans of the matrix product and of attention without a GPU: whatever the shape and the limits, what is
// asked of a device is within its limits and covers the result.
#include <algorithm>

#include "device/matmul_params.h"
#include "support/catch.h"
#include "vulkan/plan.h"

using namespace llmtool;
using namespace llmtool::vulkan;

namespace {

const Block block{1, std::uint64_t{1} << 40, nullptr};

View view_of(std::uint64_t offset = 0) { return {&block, offset, 1 << 20, DType::f32}; }

Limits small_limits() { return {}; }
Limits large_limits() {
  Limits limits;
  limits.max_range = std::uint64_t{1} << 32;
  limits.offset_alignment = 16;
  limits.max_shared = 48 << 10;
  limits.max_invocations = 1024;
  return limits;
}

struct Planned {
  std::vector<Dispatch> dispatches;
  std::uint64_t scratch_bytes = 0;
};

Planned plan_of(const MatmulParams& p, const Limits& limits, std::uint64_t offset = 0) {
  Launch launch;
  launch.id = KernelId::matmul;
  launch.views = {view_of(offset), view_of(offset), View{}, View{}, view_of(offset)};
  launch.set_params(p);
  Planned planned;
  planned.dispatches = plan(launch, limits, [&](std::uint64_t bytes) {
    planned.scratch_bytes += bytes;
    return View{&block, 0, bytes, DType::f32};
  });
  return planned;
}

void check_limits(const Dispatch& d, const Limits& limits) {
  CHECK(d.constants[0] >= 1);
  CHECK(d.constants[0] <= limits.max_invocations);
  for (const std::uint32_t groups : d.groups) {
    CHECK(groups >= 1);
    CHECK(groups <= limits.max_groups);
  }
  CHECK(d.views.size() == d.accesses.size());
}

/// The shader's own arithmetic: what it declares as shared, how it spreads its threads and its loads.
void check_tile(const Dispatch& d, const MatmulParams& p, const Limits& limits) {
  const std::uint32_t threads = d.constants[0], m = d.constants[2], n = d.constants[3], k = d.constants[4],
                      rows = d.constants[5], cols = d.constants[6], stages = 1 + (d.constants[7] >> 3 & 1u);
  CHECK(threads == m / rows * (n / cols));
  CHECK(m % (4 * (m / rows)) == 0);
  CHECK(n % (4 * (n / cols)) == 0);
  CHECK(m * k / 4 % threads == 0);
  CHECK(n * k / 4 % threads == 0);
  CHECK(stages * k * (m + 4 + n + 4) * 4 <= limits.max_shared);
  CHECK(d.window[0] % k == 0);
  CHECK(std::uint64_t{d.window[0]} * d.groups[1] >= p.k);
  CHECK((d.groups[1] == 1 || std::uint64_t{d.window[0]} * (d.groups[1] - 1) < p.k));
}

std::uint32_t tile_of(const MatmulParams& p, const Limits& limits) {
  return plan_of(p, limits).dispatches.front().constants[2];
}

constexpr std::uint32_t nn = LLMTOOL_MATMUL_NN, nt = LLMTOOL_MATMUL_NT, tn = LLMTOOL_MATMUL_TN;

}  // namespace

TEST_CASE("plan matmul: every shape stays within the limits") {
  Limits many_threads = small_limits();
  many_threads.max_invocations = 1024;
  for (const Limits& limits : {small_limits(), many_threads, large_limits()}) {
    for (const std::uint32_t form : {nn, nt, tn}) {
      for (const std::uint32_t m : {1u, 7u, 33u, 768u, 8192u}) {
        for (const std::uint32_t n : {1u, 65u, 800u, 50257u}) {
          for (const std::uint32_t k : {0u, 1u, 100u, 8192u}) {
            for (const std::uint32_t batch : {1u, 70000u}) {
              if (std::uint64_t{m} * n * batch > 4000000000u) continue;
              const MatmulParams p = dense_matmul(form, m, n, k, batch);
              const Planned planned = plan_of(p, limits);
              REQUIRE(!planned.dispatches.empty());
              CHECK(planned.scratch_bytes <= limits.max_range);
              double flops = 0;
              for (const Dispatch& d : planned.dispatches) {
                check_limits(d, limits);
                flops += d.flops;
                if (d.shader == "matmul") check_tile(d, p, limits);
              }
              CHECK(flops >= 2.0 * m * n * k * batch);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("plan matmul: tiles follow shape and limits") {
  CHECK(tile_of(dense_matmul(nt, 4096, 4096, 4096), large_limits()) == 128);
  CHECK(tile_of(dense_matmul(nt, 4096, 4096, 4096), small_limits()) == 64);
  CHECK(tile_of(dense_matmul(nn, 1024, 1024, 200), large_limits()) == 64);
  CHECK(tile_of(dense_matmul(nn, 30, 30, 30), large_limits()) == 32);
  CHECK(tile_of(dense_matmul(nn, 32, 32, 16, 4096), large_limits()) == 32);  // larger tiles would be padding
}

TEST_CASE("plan matmul: thin gradients are cut along the inner dimension") {
  const MatmulParams p = dense_matmul(tn, 768, 100, 8192);
  const Planned planned = plan_of(p, large_limits());
  REQUIRE(planned.dispatches.size() == 2);
  const Dispatch &parts = planned.dispatches[0], &sum = planned.dispatches[1];
  CHECK(parts.shader == "matmul");
  CHECK(sum.shader == "matmul_sum");
  CHECK(parts.groups[1] >= 2);
  CHECK(sum.window[0] == parts.groups[1]);
  CHECK(parts.window[1] == 768u * 100u);
  CHECK(planned.scratch_bytes == std::uint64_t{768} * 100 * parts.groups[1] * 4);
  CHECK(plan_of(dense_matmul(tn, 768, 100, 100), large_limits()).dispatches.size() == 1);
}

TEST_CASE("plan matmul: few rows have a shader of their own, whatever their number") {
  for (std::uint32_t m = 1; m <= 8; ++m) {
    const Dispatch d = plan_of(dense_matmul(nt, m, 3072, 768), large_limits()).dispatches.at(0);
    CHECK(d.shader == "matmul_few");
    CHECK(d.constants[0] == d.constants[1] * d.constants[2]);
    CHECK(d.constants[3] >= m);
    CHECK(d.constants[1] == 32);  // the order of sums must not follow m
  }
  CHECK(plan_of(dense_matmul(nt, 9, 3072, 768), large_limits()).dispatches.at(0).shader == "matmul");
}

TEST_CASE("plan matmul: vec4 accesses only where all of an operand allows them") {
  const auto flags = [](const MatmulParams& p, std::uint64_t offset) {
    return plan_of(p, large_limits(), offset).dispatches.at(0).constants[7] & 7u;
  };
  MatmulParams p = dense_matmul(nn, 64, 64, 64);
  CHECK(flags(p, 256) == 7u);
  CHECK(flags(p, 260) == 0u);
  p.lda = 65;
  CHECK(flags(p, 256) == 6u);
  p.c_batch[1] = 3;
  CHECK(flags(p, 256) == 2u);
}

TEST_CASE("plan matmul: no result, no dispatch") {
  CHECK(plan_of(dense_matmul(nn, 0, 5, 5), small_limits()).dispatches.empty());
  CHECK(plan_of(dense_matmul(nn, 5, 5, 5, 0), small_limits()).dispatches.empty());
}

namespace {

std::vector<Dispatch> attention_plan(KernelId id, std::uint32_t tokens, std::uint32_t head_size,
                                     const Limits& limits) {
  AttentionParams p{};
  p.batch = 3;
  p.tokens = tokens;
  p.position0 = 5;
  p.keys = p.position0 + tokens;
  p.heads = 4;
  p.kv_heads = 2;
  p.head_size = head_size;
  p.q_row = p.heads * head_size;
  p.q_batch = tokens * p.q_row;
  p.kv_row = p.kv_heads * head_size;
  p.kv_batch = p.keys * p.kv_row;
  Launch launch;
  launch.id = id;
  launch.views.assign(kernel_info(id).accesses.size(), view_of());
  launch.set_params(p);
  return plan(launch, limits, [](std::uint64_t) { return View{}; });
}

constexpr KernelId attention_kernels[] = {KernelId::attention, KernelId::attention_delta,
                                          KernelId::attention_backward_q, KernelId::attention_backward_kv};

/// Shared memory as the tiled shaders declare it.
std::uint32_t tiled_shared(const Dispatch& d, KernelId id) {
  const std::uint32_t row = ((d.constants[1] + 3) / 4 | 1u) * 16, queries = d.constants[2],
                      keys = d.constants[3];
  const auto weights = [](std::uint32_t rows, std::uint32_t n) { return rows * ((n + 3) / 4 + 1) * 16; };
  if (id == KernelId::attention) {
    return (queries + keys) * row + weights(queries, keys) + queries * d.constants[4] * 4;
  }
  if (id == KernelId::attention_backward_q) return (2 * queries + keys) * row + weights(queries, keys);
  return 2 * (queries + keys) * row + 2 * weights(keys, queries);
}

}  // namespace

TEST_CASE("plan attention: every head size up to 256 fits the smallest device") {
  for (const Limits& limits : {small_limits(), large_limits()}) {
    for (const KernelId id : attention_kernels) {
      for (const std::uint32_t head_size : {1u, 5u, 64u, 80u, 128u, 200u, 256u, 512u}) {
        for (const std::uint32_t tokens : {1u, 4u, 5u, 1000u}) {
          const auto dispatches = attention_plan(id, tokens, head_size, limits);
          REQUIRE(dispatches.size() == 1);
          const Dispatch& d = dispatches[0];
          check_limits(d, limits);
          if (id == KernelId::attention_delta) {
            CHECK(d.constants[0] == d.constants[1] * d.constants[2]);
            continue;
          }
          CHECK(d.constants[0] == d.constants[4] * d.constants[5]);
          if (d.shader == "attention_row") continue;
          CHECK(d.shader == kernel_info(id).name);
          CHECK(tiled_shared(d, id) <= limits.max_shared);
        }
      }
    }
  }
}

TEST_CASE("plan attention: a head that cannot fit is an error that names it") {
  for (const KernelId id :
       {KernelId::attention, KernelId::attention_backward_q, KernelId::attention_backward_kv}) {
    try {
      attention_plan(id, 100, 8000, small_limits());
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::world);
      CHECK(std::string(error.what()).find("head_size 8000") != std::string::npos);
      CHECK(std::string(error.what()).find("16384") != std::string::npos);
    }
  }
}
