// Plans of the kernels that work row by row: softmax, norms, cross entropy, and of sums over rows and over
// all gradients. Not here: elementwise kernels (plan_flat.cpp).
#include <algorithm>
#include <bit>

#include "vulkan/plan.h"

namespace llmtool::vulkan {
namespace {

/// A power of two of threads for a row: two columns each at least, so that short rows do not idle.
std::uint32_t threads_for(std::uint32_t cols, const Limits& limits) noexcept {
  const std::uint32_t most = std::bit_floor(limits.threads());
  return std::clamp(std::bit_ceil(std::max(1u, cols / 2)), std::min(32u, most), most);
}

std::vector<Dispatch> a_group_a_row(const Launch& launch, std::uint32_t rows, std::uint32_t cols,
                                    const Limits& limits) {
  if (rows == 0 || cols == 0) return {};
  Dispatch d = dispatch_of(launch, threads_for(cols, limits));
  d.groups[0] = groups_for(rows, 1, limits.max_groups);
  d.flops = 30.0 * rows * cols;
  return {std::move(d)};
}

/// Sums over rows: blocks of rows first, then the blocks in order.
std::vector<Dispatch> norm_params(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  auto p = launch.params_as<NormParams>();
  if (p.cols == 0) return {};
  constexpr std::uint32_t across = 32, block_rows = 256;
  const std::uint32_t blocks = std::max(1u, (p.rows + block_rows - 1) / block_rows);
  Dispatch sums = dispatch_of(launch, std::bit_floor(limits.threads()));
  sums.constants[1] = across;
  sums.constants[2] = block_rows;
  sums.groups = {groups_for(p.cols, across, ~0u), groups_for(blocks, 1, limits.max_groups), 1};
  sums.flops = 6.0 * p.rows * p.cols;
  LLMTOOL_CHECK(sums.groups[0] <= limits.max_groups, sums.shader, ": ", p.cols, " columns");
  if (blocks == 1) return {std::move(sums)};

  std::vector<Dispatch> dispatches;
  const RowsParams ordered{blocks, p.cols, p.accumulate};
  for (std::size_t i = 3; i < launch.views.size(); ++i) {
    const View& result = launch.views[i];
    if (!result) continue;
    sums.views[i] = scratch(std::uint64_t{blocks} * p.cols * sizeof(float));
    Dispatch d;
    d.shader = "column_sum";
    d.accesses = "RA";
    d.views = {sums.views[i], result};
    d.constants[0] = limits.threads();
    d.set_params(ordered);
    d.groups[0] = groups_for(p.cols, d.constants[0], limits.max_groups);
    d.bytes = static_cast<double>(sums.views[i].bytes + result.bytes);
    dispatches.push_back(std::move(d));
  }
  p.accumulate = 0;
  sums.set_params(p);
  dispatches.insert(dispatches.begin(), std::move(sums));
  return dispatches;
}

}  // namespace

std::vector<Dispatch> plan_rows(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  switch (launch.id) {
    case KernelId::softmax:
    case KernelId::log_softmax:
    case KernelId::softmax_backward:
    case KernelId::log_softmax_backward: {
      const auto p = launch.params_as<RowsParams>();
      return a_group_a_row(launch, p.rows, p.cols, limits);
    }
    case KernelId::cross_entropy: {
      const auto p = launch.params_as<CrossEntropyParams>();
      return a_group_a_row(launch, p.rows, p.cols, limits);
    }
    case KernelId::layer_norm:
    case KernelId::layer_norm_backward:
    case KernelId::rms_norm:
    case KernelId::rms_norm_backward: {
      const auto p = launch.params_as<NormParams>();
      return a_group_a_row(launch, p.rows, p.cols, limits);
    }
    case KernelId::layer_norm_backward_params:
    case KernelId::rms_norm_backward_params:
      return norm_params(launch, limits, scratch);
    case KernelId::grad_norm_partial: {
      const auto p = launch.params_as<GradNormPartialParams>();
      return a_group_a_row(launch, p.groups, (p.n + p.groups - 1) / std::max(1u, p.groups), limits);
    }
    default: {  // grad_norm_finish
      Dispatch d = dispatch_of(launch, std::bit_floor(limits.threads()));
      return {std::move(d)};
    }
  }
}

}  // namespace llmtool::vulkan
