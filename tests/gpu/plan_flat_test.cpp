// Plans of the elementwise and shape kernels: grids within limits, dimensions joined without changing what
// they mean. No GPU is needed. Not here: results (matrix_test.cpp).
#include <string>
#include <vector>

#include "base/cat.h"
#include "kernels/case.h"
#include "support/catch.h"
#include "vulkan/dimensions.h"
#include "vulkan/plan.h"

using namespace llmtool;
using namespace llmtool::vulkan;

namespace {

Scratch no_scratch() {
  return [](std::uint64_t) -> View { throw InternalError("no scratch memory is needed"); };
}

template <class Params>
std::vector<Dispatch> plan_of(KernelId id, std::size_t views, const Params& params,
                              const Limits& limits = {}) {
  static const Block block{1, std::uint64_t{1} << 40, nullptr};
  Launch launch;
  launch.id = id;
  launch.views.assign(views, View{&block, 0, 4, DType::f32});
  launch.set_params(params);
  return plan(launch, limits, [](std::uint64_t bytes) { return View{&block, 0, bytes, DType::f32}; });
}

template <class Params>
Params params_of(const Dispatch& dispatch) {
  Params p;
  std::memcpy(&p, dispatch.params.data(), sizeof p);
  return p;
}

/// Where element i lies in an operand.
std::uint64_t place(std::uint64_t i, const Dims& shape, const Dims& stride) {
  std::uint64_t at = 0;
  for (int d = 3; d >= 0; --d) {
    at += i % shape[d] * stride[d];
    i /= shape[d];
  }
  return at;
}

}  // namespace

TEST_CASE("plan: a flat kernel has a thread for each element, up to the largest grid") {
  Limits limits;
  limits.max_invocations = 1024;
  const auto groups = [&](std::uint32_t n) {
    const auto dispatches = plan_of(KernelId::exp, 2, UnaryParams{n, 0, 0, 0}, limits);
    REQUIRE(dispatches.size() == 1);
    CHECK(dispatches[0].constants[0] == 256);
    CHECK(dispatches[0].shader == "exp");
    return dispatches[0].groups[0];
  };
  CHECK(groups(1) == 1);
  CHECK(groups(256) == 1);
  CHECK(groups(257) == 2);
  CHECK(groups(65535 * 256) == 65535);
  CHECK(groups(1u << 30) == 65535);
  CHECK(plan_of(KernelId::exp, 2, UnaryParams{0, 0, 0, 0}).empty());
}

TEST_CASE("plan: every flat and shape kernel has one dispatch, a long sum two, within small limits") {
  Limits limits;
  limits.max_invocations = 128;
  for (const kernel_test::Case& c : kernel_test::all_cases()) {
    const KernelInfo& info = kernel_info(c.id);
    const bool shape =
        c.id == KernelId::sum_to || c.id == KernelId::gather_rows || c.id == KernelId::scatter_rows;
    if (info.grid != Grid::flat && !shape) continue;
    Launch launch;
    launch.id = c.id;
    launch.views.resize(c.operands.size());
    std::copy(c.params.begin(), c.params.end(), launch.params.begin());
    const bool sum = c.id == KernelId::sum_to;
    const auto dispatches = plan(launch, limits, sum ? [](std::uint64_t) { return View{}; } : no_scratch());
    INFO(info.name << " [" << c.what << "]");
    REQUIRE((dispatches.size() == 1 || (sum && dispatches.size() == 2)));
    for (const Dispatch& d : dispatches) {
      REQUIRE(d.shader == info.name);
      REQUIRE(d.constants[0] <= 128);
      REQUIRE(d.groups[0] >= 1);
    }
  }
}

TEST_CASE("plan: joined dimensions name the same elements") {
  struct Layout {
    Dims shape, a, b;
    std::uint32_t rank;
  };
  const Layout layouts[] = {
      {{2, 3, 4, 5}, {60, 20, 5, 1}, {60, 20, 5, 1}, 1}, {{2, 3, 4, 5}, {60, 20, 5, 1}, {0, 0, 0, 1}, 2},
      {{2, 3, 4, 5}, {60, 20, 5, 1}, {12, 4, 1, 0}, 2},  {{2, 3, 4, 5}, {60, 20, 5, 1}, {0, 5, 0, 1}, 4},
      {{2, 3, 4, 5}, {60, 20, 5, 1}, {0, 0, 0, 0}, 1},   {{1, 1, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, 1},
      {{7, 1, 1, 1}, {3, 0, 0, 0}, {1, 0, 0, 0}, 1},     {{2, 1, 4, 5}, {20, 0, 5, 1}, {0, 0, 5, 1}, 2},
      {{2, 3, 4, 5}, {60, 20, 5, 1}, {1, 2, 6, 24}, 4},
  };
  for (const Layout& l : layouts) {
    const Joined j = join(l.shape, l.a, l.b);
    INFO(cat(l.shape[0], ",", l.shape[1], ",", l.shape[2], ",", l.shape[3], " b ", l.b[0], ",", l.b[1], ",",
             l.b[2]));
    CHECK(j.rank == l.rank);
    for (std::uint64_t i = 0; i < std::uint64_t{l.shape[0]} * l.shape[1] * l.shape[2] * l.shape[3]; ++i) {
      REQUIRE(place(i, j.shape, j.a) == place(i, l.shape, l.a));
      REQUIRE(place(i, j.shape, j.b) == place(i, l.shape, l.b));
    }
  }
}

TEST_CASE("plan: sum_to puts threads where terms or outputs are") {
  const auto across = [](ReduceParams p) {
    p.n = p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3];
    p.scale = 1;
    const auto dispatches = plan_of(KernelId::sum_to, 2, p, Limits{});
    CHECK(dispatches[0].constants[0] == 128);
    return dispatches[0].constants[1];
  };
  CHECK(across({0, {1, 1, 1, 5000}, {1, 1, 1, 1}, 1, 0}) == 1);       // one long row: all threads along it
  CHECK(across({0, {1, 1, 300, 768}, {1, 1, 300, 1}, 1, 0}) == 1);    // rows
  CHECK(across({0, {1, 1, 8192, 768}, {1, 1, 1, 768}, 1, 0}) == 16);  // columns
  CHECK(across({0, {1, 1, 100000, 4}, {1, 1, 100000, 1}, 1, 0}) == 128);  // short rows: a thread each
  CHECK(across({0, {1, 1, 100, 30}, {1, 1, 100, 1}, 1, 0}) == 4);         // 32 threads a row
}

TEST_CASE("plan: sum_to joins what is summed and what is kept") {
  ReduceParams p{120, {2, 3, 4, 5}, {1, 1, 4, 5}, 1, 0};
  const auto q = params_of<ReduceParams>(plan_of(KernelId::sum_to, 2, p)[0]);
  CHECK(std::vector<std::uint32_t>(q.shape, q.shape + 4) == std::vector<std::uint32_t>{1, 1, 6, 20});
  CHECK(std::vector<std::uint32_t>(q.out_shape, q.out_shape + 4) == std::vector<std::uint32_t>{1, 1, 1, 20});
}
