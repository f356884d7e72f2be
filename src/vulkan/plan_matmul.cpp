// Plans of the matrix product: few rows against a stored B^T go to matmul_few; everything else to tiles whose
// size follows from the shape and the device's limits, with the inner dimension cut into parts (split-K)
// where tiles alone would leave the device idle, as for weight gradients. Not here: the shaders
// (kernels/matmul*).
#include <algorithm>

#include "vulkan/plan.h"

namespace llmtool::vulkan {
namespace {

// Views of the launch, in the order of kernels.def.
enum Argument : std::size_t { arg_a, arg_b, arg_bias, arg_pre, arg_c };

/// A tile of c and the threads that make it; see kernels/matmul.comp.
struct Tile {
  std::uint32_t m, n, k;
  std::uint32_t rows, cols;  ///< Of a thread.
  std::uint32_t stages;

  std::uint32_t threads() const noexcept { return m / rows * (n / cols); }
  std::uint32_t shared_bytes() const noexcept { return stages * k * (m + 4 + n + 4) * 4; }
  bool fits(const Limits& limits) const noexcept {
    return threads() <= limits.max_invocations && shared_bytes() <= limits.max_shared;
  }
};

// Largest first: the larger, the fewer reads of memory per operation; of equal ones the better first.
constexpr Tile tiles[] = {
    {128, 128, 16, 8, 8, 2}, {128, 128, 16, 8, 8, 1}, {128, 128, 8, 8, 8, 1}, {64, 64, 16, 4, 4, 2},
    {64, 64, 16, 4, 4, 1},   {64, 64, 16, 8, 4, 1},   {32, 32, 16, 4, 4, 2},  {32, 32, 16, 4, 4, 1},
};

/// Workgroups that keep a large device busy: about two for each of its processors.
constexpr std::uint64_t enough_groups = 256;
constexpr bool enough(std::uint64_t groups) { return 4 * groups >= 3 * enough_groups; }
/// Elements of the inner dimension that are worth a part of their own.
constexpr std::uint32_t least_part = 256;
/// Partial products may take this much memory.
constexpr std::uint64_t partials_limit = std::uint64_t{64} << 20;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

struct Choice {
  Tile tile{};
  std::uint32_t parts = 1;   ///< Of the inner dimension.
  std::uint32_t part_k = 0;  ///< Elements of a part, a multiple of the tile's k.
};

/// Cuts k so that about enough_groups workgroups run.
Choice with_parts(const Tile& tile, const MatmulParams& p, std::uint64_t groups, const Limits& limits) {
  const std::uint64_t batches = std::uint64_t{p.batch0} * p.batch1;
  const std::uint64_t part_bytes = batches * p.m * p.n * 4;
  const std::uint64_t parts =
      std::min({ceil_div(enough_groups, groups), std::uint64_t{p.k / least_part},
                std::min(partials_limit, limits.max_range) / part_bytes, std::uint64_t{limits.max_groups}});
  Choice choice{tile, 1, static_cast<std::uint32_t>(ceil_div(std::max(p.k, 1u), tile.k)) * tile.k};
  if (parts >= 2 && !enough(groups)) {
    choice.part_k = static_cast<std::uint32_t>(ceil_div(ceil_div(p.k, parts), tile.k)) * tile.k;
    choice.parts = static_cast<std::uint32_t>(ceil_div(p.k, choice.part_k));
  }
  return choice;
}

/// The largest tile that keeps the device busy and does not mostly compute padding; else the smallest.
Choice choose(const MatmulParams& p, const Limits& limits) {
  Choice choice;
  for (const Tile& tile : tiles) {
    if (!tile.fits(limits) || (choice.tile.m == tile.m)) continue;
    const std::uint64_t tiles_m = ceil_div(p.m, tile.m), tiles_n = ceil_div(p.n, tile.n);
    const std::uint64_t groups = tiles_m * tiles_n * p.batch0 * p.batch1;
    choice = with_parts(tile, p, groups, limits);
    const std::uint64_t computed = tiles_m * tile.m * tiles_n * tile.n;
    const bool padded = 2 * computed > 3 * std::uint64_t{p.m} * p.n;
    if (!padded && enough(groups * choice.parts)) return choice;
  }
  LLMTOOL_CHECK(choice.tile.m != 0, "no matmul tile fits ", limits.max_shared, " bytes of shared memory and ",
                limits.max_invocations, " threads");
  return choice;
}

/// Whether the stored rows of an operand, `cols` elements of `stride`, are whole vec4s.
bool as_vec4(const View& view, std::uint32_t cols, std::uint32_t stride, const std::uint32_t (&batch)[2]) {
  return view.offset % 16 == 0 && (cols | stride | batch[0] | batch[1]) % 4 == 0;
}
bool a_as_vec4(const Launch& launch, const MatmulParams& p) {
  return as_vec4(launch.views[arg_a], p.form == LLMTOOL_MATMUL_TN ? p.m : p.k, p.lda, p.a_batch);
}
bool b_as_vec4(const Launch& launch, const MatmulParams& p) {
  return as_vec4(launch.views[arg_b], p.form == LLMTOOL_MATMUL_NT ? p.k : p.n, p.ldb, p.b_batch);
}

constexpr std::uint32_t few_rows = 8;

Dispatch few_dispatch(const Launch& launch, const MatmulParams& p, const Limits& limits) {
  constexpr std::uint32_t lanes = 32;
  const std::uint32_t threads = std::max(lanes, std::min(limits.threads(), 128u));
  const std::uint32_t teams = threads / lanes;
  std::uint32_t rows = 1;
  while (rows < p.m) rows *= 2;
  std::uint32_t cols = p.n < 2048 ? 1 : rows == few_rows ? 2 : 4;
  while (cols > 1 && rows * cols * threads * 4 > limits.max_shared) cols /= 2;

  Dispatch d = dispatch_of(launch, threads);
  d.shader = "matmul_few";
  const bool vec_a = a_as_vec4(launch, p), vec_b = b_as_vec4(launch, p);
  d.constants = {threads, lanes, teams, rows, cols, (vec_a ? 1u : 0u) | (vec_b ? 2u : 0u)};
  d.groups = {groups_for(p.n, teams * cols, limits.max_groups), 1,
              groups_for(std::uint64_t{p.batch0} * p.batch1, 1, limits.max_groups)};
  return d;
}

Dispatch tile_dispatch(const Launch& launch, const MatmulParams& p, const Choice& choice,
                       std::uint32_t activation, const Limits& limits) {
  const Tile& tile = choice.tile;
  Dispatch d = dispatch_of(launch, tile.threads());
  d.set_params(p);
  const View& pre = launch.views[arg_pre];
  const bool vec_a = a_as_vec4(launch, p), vec_b = b_as_vec4(launch, p),
             vec_c = as_vec4(launch.views[arg_c], p.n, p.ldc, p.c_batch) && pre.offset % 16 == 0;
  const std::uint32_t flags = (vec_a ? 1u : 0u) | (vec_b ? 2u : 0u) | (vec_c ? 4u : 0u) |
                              (tile.stages == 2 ? 8u : 0u) | activation << 4;
  d.constants = {tile.threads(), p.form, tile.m, tile.n, tile.k, tile.rows, tile.cols, flags};
  const std::uint64_t all_tiles = ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n);
  d.groups = {groups_for(all_tiles, 1, limits.max_groups), choice.parts,
              groups_for(std::uint64_t{p.batch0} * p.batch1, 1, limits.max_groups)};
  d.window = {choice.part_k, 0, 0, 0};
  return d;
}

/// The partial products in scratch memory, then their sum with what follows a product.
std::vector<Dispatch> split_dispatches(const Launch& launch, const MatmulParams& p, const Choice& choice,
                                       const Limits& limits, const Scratch& scratch) {
  const std::uint32_t size = p.m * p.n;
  const std::uint64_t elements = std::uint64_t{size} * choice.parts * p.batch0 * p.batch1;
  const View partials = scratch(elements * 4);

  Launch product = launch;
  product.views[arg_bias] = product.views[arg_pre] = View{};
  product.views[arg_c] = partials;
  MatmulParams q = p;
  q.ldc = p.n;
  q.c_batch[1] = size * choice.parts;
  q.c_batch[0] = q.c_batch[1] * p.batch1;
  q.accumulate = 0;
  q.activation = LLMTOOL_ACT_NONE;
  Dispatch first = tile_dispatch(product, q, choice, LLMTOOL_ACT_NONE, limits);
  first.accesses = "RRrwW";
  first.window[1] = size;
  first.flops = 2.0 * p.m * p.n * p.k * p.batch0 * p.batch1;
  first.bytes = product.bytes();

  Launch sum = launch;
  sum.views = {partials, launch.views[arg_bias], launch.views[arg_pre], launch.views[arg_c]};
  Dispatch second = dispatch_of(sum, limits.threads());
  second.shader = "matmul_sum";
  second.accesses = "RrwA";
  second.window = {choice.parts, 0, 0, 0};
  second.groups[0] =
      groups_for(std::uint64_t{size} * p.batch0 * p.batch1, limits.threads(), limits.max_groups);
  second.flops = static_cast<double>(elements);
  return {std::move(first), std::move(second)};
}

}  // namespace

std::vector<Dispatch> plan_matmul(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  const auto p = launch.params_as<MatmulParams>();
  if (p.m == 0 || p.n == 0 || p.batch0 == 0 || p.batch1 == 0) return {};
  Choice choice;
  Dispatch d;
  if (p.form == LLMTOOL_MATMUL_NT && p.m <= few_rows && p.k > 0) {
    d = few_dispatch(launch, p, limits);
  } else {
    choice = choose(p, limits);
    if (choice.parts > 1) return split_dispatches(launch, p, choice, limits, scratch);
    d = tile_dispatch(launch, p, choice, p.activation, limits);
  }
  d.flops = 2.0 * p.m * p.n * p.k * p.batch0 * p.batch1;
  return {std::move(d)};
}

}  // namespace llmtool::vulkan
