// Plans of the kernels that sum, spread and move elements and rows. Not here: their shaders, which say what
// each constant means.
#include <algorithm>
#include <bit>

#include "vulkan/dimensions.h"
#include "vulkan/plan.h"

namespace llmtool::vulkan {
namespace {

/// One element a thread, in loops where the grid ends.
std::vector<Dispatch> flat(Dispatch dispatch, std::uint64_t n, const Limits& limits) {
  if (n == 0) return {};
  dispatch.groups[0] = groups_for(n, dispatch.constants[0], limits.max_groups);
  dispatch.flops = static_cast<double>(n);
  return {std::move(dispatch)};
}

/// Joins neighbouring dimensions that are both summed (or spread) or both kept: of (2, 3, 4) to (1, 1, 4) the
/// first two.
void join_reduction(ReduceParams& p, std::uint32_t& rank) {
  Dims shape{1, 1, 1, 1}, out{1, 1, 1, 1};
  int at = 4;
  for (int d = 3; d >= 0; --d) {
    if (p.shape[d] == 1) continue;
    const bool kept = p.out_shape[d] == p.shape[d];
    if (at == 4 || kept != (out[at] == shape[at])) --at;
    shape[at] *= p.shape[d];
    out[at] *= p.out_shape[d];
  }
  rank = at == 4 ? 1u : static_cast<std::uint32_t>(4 - at);
  copy_dims(shape, p.shape);
  copy_dims(out, p.out_shape);
}

/// Constant 1 of sum_to: neighbouring outputs of a group. Neighbouring threads should read neighbouring
/// elements, and there should be enough groups to fill a device.
std::uint32_t outputs_across(const ReduceParams& p, std::uint64_t outputs, std::uint64_t terms,
                             std::uint32_t threads) {
  const std::uint32_t narrow = threads < 16 ? threads : 16;
  if (terms <= 8) return threads;
  if (p.out_shape[3] == 1 && p.shape[3] > 1) {
    // The last dimension is summed: a group's threads along it, as many as there are terms.
    const std::uint32_t along = static_cast<std::uint32_t>(std::bit_ceil(terms < threads ? terms : threads));
    return threads / (along < threads ? along : threads);
  }
  // Columns: 16 of them side by side, or all threads where outputs alone make enough groups.
  return outputs >= std::uint64_t{threads} * 256 && terms <= 256 ? threads : narrow;
}

Dispatch sum_dispatch(const Launch& launch, const ReduceParams& p, std::uint32_t across,
                      std::uint64_t outputs, const Limits& limits) {
  Dispatch dispatch = dispatch_of(launch, std::bit_floor(limits.threads()));  // a tree halves them
  dispatch.set_params(p);
  dispatch.constants[1] = across;
  dispatch.groups[0] = groups_for(outputs, across, limits.max_groups);
  dispatch.flops = static_cast<double>(p.n);
  return dispatch;
}

/// In how many parts the terms of a sum are cut, so that about as many groups run as keep a large device
/// busy; each thread is left 16 terms at least.
std::uint64_t sum_parts(std::uint64_t outputs, std::uint64_t terms, std::uint32_t across,
                        std::uint32_t threads, const Limits& limits) {
  constexpr std::uint64_t enough_groups = 256;
  const std::uint64_t groups = (outputs + across - 1) / across;
  if (4 * groups >= 3 * enough_groups) return 1;
  return std::min({(enough_groups + groups - 1) / groups, terms / (16 * (threads / across)),
                   limits.max_range / (outputs * sizeof(float)), std::uint64_t{limits.max_groups}});
}

std::vector<Dispatch> sum_to(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  auto p = launch.params_as<ReduceParams>();
  if (p.n == 0) return {};
  std::uint32_t rank = 0;
  join_reduction(p, rank);
  std::uint64_t outputs = 1;
  for (const std::uint32_t size : p.out_shape) outputs *= size;
  const std::uint64_t terms = p.n / outputs;
  const std::uint32_t threads = std::bit_floor(limits.threads());
  const std::uint32_t across = outputs_across(p, outputs, terms, threads);
  const std::uint64_t wanted = sum_parts(outputs, terms, across, threads, limits);
  if (wanted < 2) return {sum_dispatch(launch, p, across, outputs, limits)};

  // Whole turns of the lanes, so that parts begin where reads of memory do.
  const std::uint32_t along = threads / across;
  const auto size = static_cast<std::uint32_t>(((terms + wanted - 1) / wanted + along - 1) / along * along);
  const auto parts = static_cast<std::uint32_t>((terms + size - 1) / size);
  Launch first = launch;
  first.views[1] = scratch(parts * outputs * sizeof(float));
  ReduceParams q = p;
  q.scale = 1;
  q.accumulate = 0;
  Dispatch sums = sum_dispatch(first, q, across, outputs, limits);
  sums.accesses = "RW";
  sums.groups[1] = parts;
  sums.window[0] = size;

  Launch second = launch;
  second.views[0] = first.views[1];
  const auto n = static_cast<std::uint32_t>(outputs);
  ReduceParams r{parts * n, {1, 1, parts, n}, {1, 1, 1, n}, p.scale, p.accumulate};
  join_reduction(r, rank);
  return {std::move(sums),
          sum_dispatch(second, r, outputs_across(r, outputs, parts, threads), outputs, limits)};
}

std::vector<Dispatch> expand(const Launch& launch, const Limits& limits) {
  auto p = launch.params_as<ReduceParams>();
  Dispatch dispatch = dispatch_of(launch, limits.threads());
  join_reduction(p, dispatch.constants[1]);
  dispatch.set_params(p);
  return flat(std::move(dispatch), p.n, limits);
}

std::vector<Dispatch> permute(const Launch& launch, const Limits& limits) {
  auto p = launch.params_as<PermuteParams>();
  Dispatch dispatch = dispatch_of(launch, limits.threads());
  // Of a block of y, which the strides in the window tell, only what lies without gaps in y too is joined.
  const bool blocked = launch.window[3] != 0;
  Dims y_stride;
  for (std::size_t d = 0; d < 4; ++d) y_stride[d] = blocked ? launch.window[d] : p.x_stride[d];
  const Joined j = join(p.shape, p.x_stride, y_stride);
  copy_dims(j.shape, p.shape);
  copy_dims(j.a, p.x_stride);
  dispatch.set_params(p);
  for (std::size_t d = 0; blocked && d < 4; ++d) dispatch.window[d] = j.b[d];
  dispatch.constants[1] = j.rank;
  return flat(std::move(dispatch), p.n, limits);
}

std::vector<Dispatch> scatter_rows(const Launch& launch, const Limits& limits) {
  const auto p = launch.params_as<GatherParams>();
  if (p.rows == 0 || p.cols == 0 || p.table_rows == 0) return {};
  // No more threads than columns need. The number of unique ids is known on the device alone.
  std::uint32_t threads = std::bit_floor(limits.threads());
  while (threads > 32 && threads / 2 >= p.cols) threads /= 2;
  Dispatch dispatch = dispatch_of(launch, threads);
  const std::uint64_t ids = p.rows < p.table_rows ? p.rows : p.table_rows;
  const std::uint64_t blocks = (p.cols + std::uint64_t{threads} - 1) / threads;
  dispatch.groups[0] = groups_for(ids * blocks, 1, limits.max_groups);
  dispatch.flops = static_cast<double>(p.rows) * p.cols;
  return {std::move(dispatch)};
}

}  // namespace

std::vector<Dispatch> plan_shape(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  switch (launch.id) {
    case KernelId::sum_to:
      return sum_to(launch, limits, scratch);
    case KernelId::expand:
      return expand(launch, limits);
    case KernelId::permute:
      return permute(launch, limits);
    case KernelId::gather_rows: {
      const auto p = launch.params_as<GatherParams>();
      return flat(dispatch_of(launch, limits.threads()), std::uint64_t{p.rows} * p.cols, limits);
    }
    case KernelId::scatter_rows:
      return scatter_rows(launch, limits);
    case KernelId::rope: {
      const auto p = launch.params_as<RopeParams>();
      const std::uint64_t pairs = std::uint64_t{p.batch} * p.tokens * p.heads * (p.head_size / 2);
      return flat(dispatch_of(launch, limits.threads()), pairs, limits);
    }
    default:
      LLMTOOL_CHECK(false, "no plan for ", kernel_info(launch.id).name);
      return {};
  }
}

}  // namespace llmtool::vulkan
