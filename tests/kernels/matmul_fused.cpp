// What a matrix product does after its chains: bias, pre and activation, fused, give the bits of the separate
// kernels.
#include <utility>

#include "kernels/matmul_support.h"
#include "support/catch.h"

using namespace llmtool;
using llmtool::test::MatmulCase;

namespace {

constexpr std::uint32_t forms[] = {LLMTOOL_MATMUL_NN, LLMTOOL_MATMUL_NT, LLMTOOL_MATMUL_TN};

/// y = f(x) by the unary kernel.
std::vector<float> by_kernel(KernelId id, std::vector<float> x, cpu::SimdLevel level, ThreadPool& pool) {
  static const cpu::KernelTable table = [] {
    cpu::KernelTable t;
    cpu::register_unary(t);
    return t;
  }();
  cpu::CpuContext context(pool);
  std::vector<float> y(x.size());
  Block blocks[2];
  blocks[0].host = reinterpret_cast<std::byte*>(x.data());
  blocks[1].host = reinterpret_cast<std::byte*>(y.data());
  const std::uint64_t bytes = x.size() * sizeof(float);
  const View views[2] = {{&blocks[0], 0, bytes, DType::f32}, {&blocks[1], 0, bytes, DType::f32}};
  UnaryParams p{};
  p.n = static_cast<std::uint32_t>(x.size());
  table[level][id](context, std::span<const View>(views), &p);
  return y;
}

}  // namespace

TEST_CASE("matmul: fused bias, pre and activation equal the separate kernels bit for bit", "[matmul]") {
  ThreadPool pool(1);
  constexpr std::pair<std::uint32_t, KernelId> activations[] = {
      {LLMTOOL_ACT_RELU, KernelId::relu},
      {LLMTOOL_ACT_GELU, KernelId::gelu},
      {LLMTOOL_ACT_GELU_EXACT, KernelId::gelu_exact}};
  for (const cpu::SimdLevel level : test::matmul_levels()) {
    for (const std::uint32_t form : forms) {
      for (const std::uint32_t m : {1u, 7u, 30u, 90u}) {
        for (const auto& [activation, kernel] : activations) {
          MatmulCase plain = MatmulCase::make(form, m, 45, 350);
          MatmulCase fused = plain;
          plain.run(level, pool);
          for (std::size_t i = 0; i < plain.c.size(); ++i) plain.c[i] += plain.bias[i % 45];
          fused.with_bias = fused.with_pre = true;
          fused.p.activation = activation;
          fused.run(level, pool);
          INFO(cpu::name_of(level) << " form " << form << " m " << m << " activation " << activation);
          CHECK(test::same_bytes(fused.pre, plain.c));
          CHECK(test::same_bytes(fused.c, by_kernel(kernel, plain.c, level, pool)));
        }
      }
    }
  }
}

TEST_CASE("matmul: with accumulate, bias, pre and activation are left out", "[matmul]") {
  ThreadPool pool(1);
  for (const std::uint32_t form : forms) {
    MatmulCase plain = MatmulCase::make(form, 20, 30, 40);
    plain.p.accumulate = 1;
    MatmulCase full = plain;
    full.with_bias = full.with_pre = true;
    full.p.activation = LLMTOOL_ACT_RELU;
    const std::vector<float> pre = full.pre;
    plain.run(test::matmul_levels().back(), pool);
    full.run(test::matmul_levels().back(), pool);
    CHECK(test::same_bytes(plain.c, full.c));
    CHECK(test::same_bytes(full.pre, pre));
  }
}
