// Plans of attention: how many queries and keys a workgroup takes at a time, so that its tiles fit the
// device's shared memory. Not here: the shaders (kernels/attention*).
#include <algorithm>
#include <initializer_list>

#include "base/cat.h"
#include "vulkan/plan.h"

namespace llmtool::vulkan {
namespace {

/// Rows of a tile of queries and of a tile of keys, and how the threads lie over them.
struct Blocks {
  std::uint32_t queries, keys;
  std::uint32_t across;  ///< Threads along a row; the others lie down the rows.
};

constexpr std::uint32_t tile_threads = 128;

// Best first. Wide heads leave room for few rows; then more threads lie along the head.
constexpr Blocks forward_blocks[] = {{64, 32, 8}, {32, 32, 8}, {32, 16, 8}, {16, 16, 8},
                                     {16, 8, 8},  {8, 8, 16},  {8, 4, 16},  {4, 4, 32}};
constexpr Blocks backward_q_blocks[] = {{32, 32, 8}, {32, 16, 8}, {16, 16, 8}, {16, 8, 8}, {8, 8, 16},
                                        {8, 4, 16},  {4, 4, 32},  {2, 4, 32},  {1, 4, 32}};
constexpr Blocks backward_kv_blocks[] = {{32, 32, 8}, {16, 32, 8}, {16, 16, 8}, {8, 16, 8},
                                         {8, 8, 16},  {4, 8, 16},  {4, 4, 32},  {2, 4, 32},
                                         {2, 2, 32},  {1, 2, 32},  {1, 1, 32}};

/// Bytes of a row of a tile of weights: `n` of them and a vec4 to spare.
std::uint32_t weights_row(std::uint32_t n) { return ((n + 3) / 4 + 1) * 16; }

/// Shared memory of each tiled shader; `row` is the bytes of a row of a tile of queries or keys.
std::uint32_t shared_bytes(KernelId id, const Blocks& b, std::uint32_t row) {
  switch (id) {
    case KernelId::attention:
      return (b.queries + b.keys) * row + b.queries * (weights_row(b.keys) + b.across * 4);
    case KernelId::attention_backward_q:
      return (2 * b.queries + b.keys) * row + b.queries * weights_row(b.keys);
    default:
      return 2 * (b.queries + b.keys) * row + 2 * b.keys * weights_row(b.queries);
  }
}

std::span<const Blocks> blocks_of(KernelId id) {
  if (id == KernelId::attention) return forward_blocks;
  if (id == KernelId::attention_backward_q) return backward_q_blocks;
  return backward_kv_blocks;
}

std::uint32_t vec4s_of(std::uint32_t head_size) { return (head_size + 3) / 4; }

/// The best blocks that fit and are not mostly beyond the last query or key; null where none fits.
const Blocks* choose(KernelId id, const AttentionParams& p, const Limits& limits) {
  const std::uint32_t row = (vec4s_of(p.head_size) | 1u) * 16;
  const auto wide = [](std::uint32_t block, std::uint32_t n) { return block > 8 && block / 2 >= n; };
  for (const Blocks& blocks : blocks_of(id)) {
    if (wide(blocks.queries, p.tokens) || wide(blocks.keys, p.keys)) continue;
    if (shared_bytes(id, blocks, row) <= limits.max_shared) return &blocks;
  }
  return nullptr;
}

/// Shared memory of attention_row.
std::uint32_t row_shared_bytes(std::uint32_t head_size, std::uint32_t threads) {
  return vec4s_of(head_size) * 16 + threads * 20 + (threads + 15) / 16 * 4;
}

Error too_large(KernelId id, std::uint32_t head_size, const Limits& limits) {
  return world_error(cat("[", kernel_info(id).name, "] head_size ", head_size, " does not fit the ",
                         limits.max_shared, " bytes of shared memory of the device"),
                     "choose more heads, so that each is smaller, or another device");
}

/// Bits of a shader's FLAGS: which views may be accessed as vec4 (q with dq, k with dk, v with dv, out or
/// dout).
std::uint32_t flags_of(const Launch& launch, const AttentionParams& p) {
  const auto aligned = [&](std::initializer_list<std::size_t> arguments, std::uint32_t batch,
                           std::uint32_t row) {
    return p.head_size % 4 == 0 && batch % 4 == 0 && row % 4 == 0 &&
           std::all_of(arguments.begin(), arguments.end(),
                       [&](std::size_t i) { return launch.views[i].offset % 16 == 0; });
  };
  bool q = false, k = false, v = false;
  if (launch.id == KernelId::attention) {
    q = aligned({0}, p.q_batch, p.q_row);
    k = aligned({1}, p.kv_batch, p.kv_row);
    v = aligned({2}, p.kv_batch, p.kv_row);
  } else if (launch.id == KernelId::attention_backward_q) {
    q = aligned({0, 6}, p.q_batch, p.q_row);
    k = aligned({1}, p.kv_batch, p.kv_row);
    v = aligned({2}, p.kv_batch, p.kv_row);
  } else {
    q = aligned({0}, p.q_batch, p.q_row);
    k = aligned({1, 6}, p.kv_batch, p.kv_row);
    v = aligned({2, 7}, p.kv_batch, p.kv_row);
  }
  const bool out = aligned({4}, 0, 0);  // out or dout, both argument 4
  return (q ? 1u : 0u) | (k ? 2u : 0u) | (v ? 4u : 0u) | (out ? 8u : 0u) | (p.drop_threshold > 0 ? 16u : 0u);
}

constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

Dispatch delta_dispatch(const Launch& launch, const AttentionParams& p, const Limits& limits) {
  const std::uint32_t threads = limits.threads();
  std::uint32_t lanes = 4;  // about four elements of a row for each
  while (lanes < 32 && lanes * 4 < p.head_size && lanes * 2 <= threads) lanes *= 2;
  Dispatch d = dispatch_of(launch, threads / lanes * lanes);
  d.constants[1] = lanes;
  d.constants[2] = threads / lanes;
  d.groups[0] = groups_for(std::uint64_t{p.batch} * p.tokens * p.heads, threads / lanes, limits.max_groups);
  d.flops = 2.0 * p.batch * p.tokens * p.heads * p.head_size;
  return d;
}

/// Few queries, or heads too large for tiles: a workgroup per query.
Dispatch row_dispatch(const Launch& launch, const AttentionParams& p, const Limits& limits) {
  const std::uint32_t threads = limits.threads();
  if (row_shared_bytes(p.head_size, threads) > limits.max_shared) {
    throw too_large(launch.id, p.head_size, limits);
  }
  Dispatch d = dispatch_of(launch, threads);
  d.shader = "attention_row";
  d.constants = {threads, p.head_size, 1, threads, threads, 1, flags_of(launch, p)};
  d.groups[0] = groups_for(std::uint64_t{p.batch} * p.heads * p.tokens, 1, limits.max_groups);
  return d;
}

/// How many keys a workgroup takes of queries that are done one by one, 64 or more and a multiple of 16,
/// or all of them: few queries would leave most of a large device idle.
std::uint32_t part_keys(const AttentionParams& p, const Limits& limits) {
  constexpr std::uint64_t enough_groups = 256, least = 64, quantum = 16;
  const std::uint64_t rows = std::uint64_t{p.batch} * p.heads * p.tokens;
  if (4 * rows >= 3 * enough_groups) return p.keys;
  const std::uint64_t parts =
      std::min({(enough_groups + rows - 1) / rows, p.keys / least,
                limits.max_range / (rows * p.head_size * sizeof(float)), std::uint64_t{limits.max_groups}});
  if (parts < 2) return p.keys;
  const std::uint64_t keys = (p.keys + parts - 1) / parts;
  return static_cast<std::uint32_t>((keys + quantum - 1) / quantum * quantum);
}

/// The parts of the keys in scratch memory, then what they make together.
std::vector<Dispatch> split_rows(Dispatch row, const Launch& launch, const AttentionParams& p,
                                 std::uint32_t keys, const Limits& limits, const Scratch& scratch) {
  const std::uint32_t parts = ceil_div(p.keys, keys);
  const std::uint64_t rows = std::uint64_t{p.batch} * p.heads * p.tokens;
  const View partials = scratch(parts * rows * p.head_size * sizeof(float));
  const View part_stats = scratch(parts * rows * 2 * sizeof(float));
  Launch combine = launch;
  combine.views = {partials, part_stats, launch.views[4], launch.views[5]};
  row.views[4] = partials;
  row.views[5] = part_stats;
  row.groups[1] = parts;
  row.window[0] = keys;
  Dispatch second = dispatch_of(combine, limits.threads());
  second.shader = "attention_combine";
  second.accesses = "RRWW";
  second.window[0] = parts;
  second.groups[0] = groups_for(rows * p.head_size, limits.threads(), limits.max_groups);
  second.flops = 4.0 * static_cast<double>(parts * rows * p.head_size);
  return {std::move(row), std::move(second)};
}

/// Up to this many queries are done one by one: most rows of a tile would be empty.
constexpr std::uint32_t few_queries = 4;

}  // namespace

std::vector<Dispatch> plan_attention(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  const auto p = launch.params_as<AttentionParams>();
  if (p.batch == 0 || p.tokens == 0 || p.heads == 0 || p.head_size == 0) return {};
  LLMTOOL_CHECK(p.keys == p.position0 + p.tokens, "keys ", p.keys, ", position0 ", p.position0, ", tokens ",
                p.tokens);
  LLMTOOL_CHECK(p.kv_heads > 0 && p.heads % p.kv_heads == 0, "heads ", p.heads, ", kv_heads ", p.kv_heads);
  if (launch.id == KernelId::attention_delta) return {delta_dispatch(launch, p, limits)};

  const Blocks* blocks = choose(launch.id, p, limits);
  Dispatch d;
  const bool by_rows = launch.id == KernelId::attention && (p.tokens <= few_queries || blocks == nullptr);
  if (by_rows) {
    d = row_dispatch(launch, p, limits);
  } else {
    if (blocks == nullptr) throw too_large(launch.id, p.head_size, limits);
    d = dispatch_of(launch, tile_threads);
    d.constants = {tile_threads,       p.head_size,    blocks->queries,
                   blocks->keys,       blocks->across, tile_threads / blocks->across,
                   flags_of(launch, p)};
    const bool over_keys = launch.id == KernelId::attention_backward_kv;
    const std::uint64_t tasks = over_keys
                                    ? std::uint64_t{p.batch} * p.kv_heads * ceil_div(p.keys, blocks->keys)
                                    : std::uint64_t{p.batch} * p.heads * ceil_div(p.tokens, blocks->queries);
    d.groups[0] = groups_for(tasks, 1, limits.max_groups);
  }
  // Pairs of a query and a key that it sees, and the products over head_size that each takes.
  const double pairs =
      static_cast<double>(p.batch) * p.heads * p.tokens * (p.position0 + (p.tokens + 1) * 0.5);
  const double products = launch.id == KernelId::attention              ? 2
                          : launch.id == KernelId::attention_backward_q ? 3
                                                                        : 4;
  d.flops = 2 * products * pairs * p.head_size;
  if (const std::uint32_t keys = part_keys(p, limits); by_rows && keys < p.keys)
    return split_rows(std::move(d), launch, p, keys, limits, scratch);
  return {std::move(d)};
}

}  // namespace llmtool::vulkan
