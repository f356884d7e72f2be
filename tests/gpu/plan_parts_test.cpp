// Work that is cut into parts so that it fills a device, and the scratch memory it takes: sums, attention of
// few queries, and a launch as a whole. Not here: split products (plan_matmul_test.cpp), values (the kernel
// matrix).
#include "device/matmul_params.h"
#include "support/catch.h"
#include "vulkan/planned_launch.h"

using namespace llmtool;
using namespace llmtool::vulkan;

namespace {

const Block block{1, std::uint64_t{1} << 40, nullptr};

template <class Params>
Launch launch_of(KernelId id, const std::vector<std::uint64_t>& elements, const Params& params) {
  Launch launch;
  launch.id = id;
  std::uint64_t at = 0;
  for (const std::uint64_t n : elements) {
    launch.views.push_back({&block, at, 4 * n, DType::f32});
    at += (4 * n + 255) / 256 * 256;
  }
  launch.set_params(params);
  return launch;
}

PlannedLaunch sum_plan(ReduceParams p, const Limits& limits = {}) {
  p.n = p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3];
  const std::uint64_t outputs =
      std::uint64_t{p.out_shape[0]} * p.out_shape[1] * p.out_shape[2] * p.out_shape[3];
  return plan_launch(launch_of(KernelId::sum_to, {p.n, outputs}, p), limits);
}

AttentionParams attention_params(std::uint32_t batch, std::uint32_t tokens, std::uint32_t keys) {
  AttentionParams p{};
  p.batch = batch;
  p.tokens = tokens;
  p.keys = keys;
  p.position0 = keys - tokens;
  p.heads = 4;
  p.kv_heads = 2;
  p.head_size = 16;
  p.q_row = 64;
  p.q_batch = 64 * tokens;
  p.kv_row = 32;
  p.kv_batch = 32 * keys;
  return p;
}

PlannedLaunch attention_plan(const AttentionParams& p, const Limits& limits = {}) {
  const std::uint64_t q = p.batch * p.q_batch, kv = p.batch * p.kv_batch;
  return plan_launch(launch_of(KernelId::attention, {q, kv, kv, 12, q, p.batch * 8 * p.tokens}, p), limits);
}

}  // namespace

TEST_CASE("plan parts: a sum of many terms is cut where few groups would run") {
  CHECK(sum_plan({0, {1, 1, 1, 4000}, {1, 1, 1, 1}, 1, 0}).dispatches.size() == 1);
  CHECK(sum_plan({0, {1, 1, 300, 768}, {1, 1, 300, 1}, 1, 0}).dispatches.size() == 1);  // a group a row

  const ReduceParams p{0, {1, 1, 1, 1 << 20}, {1, 1, 1, 1}, 0.5f, 1};
  const PlannedLaunch one = sum_plan(p);
  REQUIRE(one.dispatches.size() == 2);
  const Dispatch &first = one.dispatches[0], &second = one.dispatches[1];
  CHECK(first.groups == std::array<std::uint32_t, 3>{1, 256, 1});
  CHECK(first.window[0] == 4096);
  CHECK(first.accesses == "RW");
  CHECK(one.scratch_bytes == 256 * 4);
  ReduceParams q{}, r{};
  std::memcpy(&q, first.params.data(), sizeof q);
  std::memcpy(&r, second.params.data(), sizeof r);
  CHECK(q.scale == 1);  // scaled and added to once, at the end
  CHECK(q.accumulate == 0);
  CHECK(r.scale == 0.5f);
  CHECK(r.accumulate == 1);
  CHECK(r.shape[3] == 256);
  CHECK(second.window[0] == 0);
  CHECK(second.groups[1] == 1);

  // Columns: 16 side by side; 6 parts of whole turns of 8 lanes.
  const PlannedLaunch columns = sum_plan({0, {1, 1, 8192, 768}, {1, 1, 1, 768}, 1, 0});
  REQUIRE(columns.dispatches.size() == 2);
  CHECK(columns.dispatches[0].groups == std::array<std::uint32_t, 3>{48, 6, 1});
  CHECK(columns.dispatches[0].window[0] == 1368);
  CHECK(columns.scratch_bytes == 6 * 768 * 4);
}

TEST_CASE("plan parts: few queries behind many keys are cut by keys") {
  CHECK(attention_plan(attention_params(1, 1, 127)).dispatches.size() == 1);
  CHECK(attention_plan(attention_params(1, 5, 2000)).dispatches.size() == 1);   // in tiles
  CHECK(attention_plan(attention_params(50, 1, 2000)).dispatches.size() == 1);  // 200 groups as it is

  const PlannedLaunch planned = attention_plan(attention_params(1, 1, 1000));
  REQUIRE(planned.dispatches.size() == 2);
  const Dispatch &first = planned.dispatches[0], &second = planned.dispatches[1];
  CHECK(first.shader == "attention_row");
  CHECK(first.groups == std::array<std::uint32_t, 3>{4, 13, 1});
  CHECK(first.window[0] == 80);  // 15 parts of 67 keys, in whole groups of 16
  CHECK(second.shader == "attention_combine");
  CHECK(second.window[0] == 13);
  CHECK(planned.scratch_bytes == 3328 + 13 * 4 * 2 * 4);
  // Four sequences of four queries: 64 groups, four times as many in parts.
  const PlannedLaunch more = attention_plan(attention_params(4, 4, 1000));
  CHECK(more.dispatches[0].groups == std::array<std::uint32_t, 3>{64, 4, 1});
  CHECK(more.dispatches[0].window[0] == 256);
}

TEST_CASE("plan parts: scratch memory of a launch is one range that its pieces share") {
  // Both gradients of a norm are summed by blocks of rows.
  const std::uint64_t rows = 2000, cols = 100;
  const Launch norm =
      launch_of(KernelId::layer_norm_backward_params, {rows * cols, 2 * rows, rows * cols, cols, cols},
                NormParams{2000, 100, 1e-5f, 0});
  const Limits limits;
  PlannedLaunch planned = plan_launch(norm, limits);
  REQUIRE(planned.dispatches.size() == 3);
  const View dgain = planned.dispatches[0].views[3], dbias = planned.dispatches[0].views[4];
  CHECK(dgain.bytes == 8 * cols * 4);
  CHECK(dgain.offset == 0);
  CHECK(dbias.offset == 3328);  // 3200 bytes, to the next multiple of 256
  CHECK(planned.scratch_bytes == 3328 + 3200);

  // Cut in pieces by a small binding: no more than one piece takes.
  Limits small = limits;
  small.max_range = 300 * cols * 4 + 256;
  const PlannedLaunch pieces = plan_launch(norm, small);
  CHECK(pieces.dispatches.size() > 3);
  CHECK(pieces.scratch_bytes <= planned.scratch_bytes);

  const Block scratch{2, 1 << 20, nullptr};
  place_scratch(planned, {&scratch, 4096, planned.scratch_bytes, DType::f32});
  for (const Dispatch& d : planned.dispatches)
    for (const View& view : d.views) CHECK(view.block != nullptr);
  CHECK(planned.dispatches[0].views[4].block == &scratch);
  CHECK(planned.dispatches[0].views[4].offset == 4096 + 3328);
  CHECK(planned.dispatches[2].views[0].offset == 4096 + 3328);
  CHECK(planned.dispatches[2].views[1].block == &block);

  // A product without parts needs none.
  const Launch product = launch_of(KernelId::matmul, {64 * 64, 64 * 64, 0, 0, 64 * 64},
                                   dense_matmul(LLMTOOL_MATMUL_NN, 64, 64, 64));
  CHECK(plan_launch(product, limits).scratch_bytes == 0);
}
