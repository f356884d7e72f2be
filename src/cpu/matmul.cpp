// The matrix product: its forms, batches, blocking and threads (MatmulParams in kernels/params.h is the
// definition). Two ways to work: `by columns`, where a task takes all rows of some columns and packs what it
// needs itself (few rows, or many small matrices), and `by tiles`, where B is packed first, in parallel, and
// shared. Not here: the inner loops (matmul_micro-inl.h), how a tile is finished (matmul_tile-inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/matmul.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/matmul_pack-inl.h"
#include "cpu/matmul_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t k_block = 256;            ///< A panel of B this deep lies in the level-1 cache.
constexpr std::size_t group_rows = 48;          ///< Rows of A that pass by a panel of B while it is there.
constexpr std::size_t few_rows = 64;            ///< Up to here, a panel of B serves one task alone.
constexpr std::size_t task_products = 1 << 21;  ///< Multiplications a task should have, about.
constexpr std::size_t group_columns = 512;      ///< Columns that a group of packed rows is used for.
constexpr std::size_t packed_floats = 1 << 19;  ///< Packed B: 2 MiB, a share of the last cache level.
constexpr std::size_t pack_floats = 1 << 14;    ///< What a task packs of it, about.

constexpr std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Columns [begin, begin + size) of one matrix: whole panels, and the last, where it reaches the edge,
/// perhaps narrower.
struct Columns {
  std::size_t begin, size;
};

/// All rows of some columns. scratch: k_block * (mm_panel + packed rows of A).
void product_of_columns(const Product& s, const MatmulJob& job, const RowBlocks& blocks, Columns columns,
                        float* scratch) {
  float* const panel = scratch;
  float* const packed_a = s.tn ? scratch + s.depths.largest() * mm_panel : nullptr;
  // B read in place: by rows of k, and either used once or small enough to stay near.
  const bool in_place = !s.nt && (s.m <= 12 || s.ldb * s.k <= 4096);
  const EvenParts panels = panels_of(columns.size);
  for (std::size_t depth = 0; depth < s.depths.count(); ++depth) {
    const std::size_t p = s.depths.begin(depth), k = s.depths.size(depth);
    if (s.tn) pack_a(job.a + p * s.lda, s.lda, k, blocks, 0, blocks.count(), packed_a);
    for (std::size_t i = 0; i < panels.count(); ++i) {
      const std::size_t j = columns.begin + panels.begin(i);
      Strip strip{depth, j, panels.size(i), nullptr, 0};
      const float* const b = job.b + (s.nt ? j * s.ldb + p : p * s.ldb + j);
      if (in_place && strip.columns == strip.padded()) {
        strip.b = b;
        strip.ldb = s.ldb;
      } else {
        strip.ldb = strip.padded();
        pack_b(s.nt, b, s.ldb, k, strip.columns, strip.ldb, panel);
        strip.b = panel;
      }
      product_of_strip(s, job, blocks, 0, blocks.count(), packed_a, strip);
    }
  }
}

/// A few rows times B^T, which streams by once. scratch: k * mm_panel.
void product_streaming(const Product& s, const MatmulJob& job, Columns columns, float* scratch) {
  std::size_t j = columns.begin;
  const std::size_t end = columns.begin + columns.size;
  while (j < end) {
    const std::size_t vectors = std::min<std::size_t>(
        (end - j) / mm_lanes, static_cast<std::size_t>(stream_vectors(static_cast<int>(s.m))));
    if (vectors == 0) break;
    const std::size_t v = vectors == 3 ? 2 : vectors;
    stream_tile(s, job, j, static_cast<int>(v));
    j += v * mm_lanes;
  }
  if (j == end) return;
  const RowBlocks tail(s.m, mm_rows);
  for (std::size_t depth = 0; depth < s.depths.count(); ++depth) {
    const std::size_t p = s.depths.begin(depth);
    Strip strip{depth, j, end - j, scratch, mm_panel};
    strip.ldb = strip.padded();
    pack_b(true, job.b + j * s.ldb + p, s.ldb, s.depths.size(depth), strip.columns, strip.ldb, scratch);
    product_of_strip(s, job, tail, 0, tail.count(), nullptr, strip);
  }
}

MatmulJob job_of(const MatmulParams& p, const MatmulJob& whole, std::size_t entry) {
  const BatchOffsets o = batch_offsets(p, entry);
  return {whole.a + o.a, whole.b + o.b, whole.bias, whole.pre == nullptr ? nullptr : whole.pre + o.c,
          whole.c + o.c};
}

void matmul_by_columns(CpuContext& context, const MatmulParams& p, const Product& s, const MatmulJob& whole) {
  const std::size_t entries = std::size_t{p.batch0} * p.batch1;
  const RowBlocks blocks(s.m, mm_rows);
  const std::size_t cost = std::max<std::size_t>(s.m, 8) * std::max<std::size_t>(s.k, 1);  // of a column
  const std::size_t wide = std::max<std::size_t>(s.tn ? 8 : 1, task_products / 4 / (cost * mm_panel)) *
                           mm_panel;  // transposed A is packed per task
  const EvenParts parts(s.n, wide, mm_panel);
  const std::size_t together =
      parts.count() > 1 ? 1 : std::max<std::size_t>(1, task_products / 4 / (cost * s.n));
  const std::size_t groups = divide_up(entries, together);
  context.reserve<float>(s.depths.largest() * (mm_panel + s.m) + mm_panel);
  const bool streaming = s.nt && s.m <= mm_stream_rows;
  context.pool().parallel_for(
      static_cast<std::int64_t>(groups * parts.count()), [&](std::int64_t chunk, int worker) HWY_ATTR {
        const std::size_t group = static_cast<std::size_t>(chunk) / parts.count();
        const std::size_t part = static_cast<std::size_t>(chunk) % parts.count();
        const Columns columns{parts.begin(part), parts.size(part)};
        float* const scratch = context.scratch<float>(worker);
        for (std::size_t e = group * together; e < std::min(entries, (group + 1) * together); ++e) {
          const MatmulJob job = job_of(p, whole, e);
          if (streaming) {
            product_streaming(s, job, columns, scratch);
          } else {
            product_of_columns(s, job, blocks, columns, scratch);
          }
        }
      });
}

/// All rows x some columns of one matrix at one depth of k. B is packed first and shared by all tasks. A is
/// read in place by rows (a few rows are a few streams, and no copy is faster than one), but transposed A
/// would touch a line of its own for each p: of that, each task packs what it needs, into its own cache.
void product_by_tiles(CpuContext& context, const Product& s, const MatmulJob& job, Columns columns,
                      std::size_t depth) {
  const std::size_t p = s.depths.begin(depth), k = s.depths.size(depth);
  float* const packed_b = context.shared<float>((k + 1) * divide_up(columns.size, mm_lanes) * mm_lanes);
  const EvenParts panels = panels_of(columns.size);
  const auto strip_of = [&](std::size_t panel) {
    return Strip{depth, columns.begin + panels.begin(panel), panels.size(panel),
                 packed_b + panels.begin(panel) * k, 0};
  };
  const EvenParts pack_parts(panels.count(), pack_floats / (std::max<std::size_t>(k, 1) * mm_panel));
  context.pool().parallel_for(
      static_cast<std::int64_t>(pack_parts.count()), [&](std::int64_t part, int) HWY_ATTR {
        const std::size_t chunk = static_cast<std::size_t>(part);
        for (std::size_t i = pack_parts.begin(chunk); i < pack_parts.begin(chunk + 1); ++i) {
          const Strip strip = strip_of(i);
          pack_b(s.nt, job.b + (s.nt ? strip.column * s.ldb + p : p * s.ldb + strip.column), s.ldb, k,
                 strip.columns, strip.padded(), packed_b + panels.begin(i) * k);
        }
      });

  const RowBlocks blocks(s.m, mm_rows);
  const EvenParts groups(blocks.count(),
                         std::max<std::size_t>(1, group_rows / (s.m < 8 * group_rows ? 2 : 1) / mm_rows));
  // At least sixteen tasks, if that leaves each a few panels.
  const std::size_t share = panels.count() / divide_up(16, groups.count());
  const EvenParts parts(panels.count(), std::clamp<std::size_t>(share, 4, group_columns / mm_panel));
  context.reserve<float>((groups.largest() * mm_rows) * (k + 1));
  context.pool().parallel_for(static_cast<std::int64_t>(groups.count() * parts.count()),
                              [&](std::int64_t chunk, int worker) HWY_ATTR {
                                const std::size_t group = static_cast<std::size_t>(chunk) / parts.count();
                                const std::size_t part = static_cast<std::size_t>(chunk) % parts.count();
                                const std::size_t first = groups.begin(group), last = groups.begin(group + 1);
                                float* const packed_a = s.tn ? context.scratch<float>(worker) : nullptr;
                                if (s.tn) pack_a(job.a + p * s.lda, s.lda, k, blocks, first, last, packed_a);
                                for (std::size_t i = parts.begin(part); i < parts.begin(part + 1); ++i) {
                                  Strip strip = strip_of(i);
                                  strip.ldb = strip.padded();
                                  product_of_strip(s, job, blocks, first, last, packed_a, strip);
                                }
                              });
}

void matmul_by_tiles(CpuContext& context, const MatmulParams& p, const Product& s, const MatmulJob& whole) {
  const std::size_t deepest = std::max<std::size_t>(s.depths.largest(), 1);
  const EvenParts bands(s.n, std::max(mm_panel, packed_floats / deepest / mm_panel * mm_panel), mm_panel);
  for (std::size_t entry = 0; entry < std::size_t{p.batch0} * p.batch1; ++entry) {
    const MatmulJob job = job_of(p, whole, entry);
    for (std::size_t band = 0; band < bands.count(); ++band) {
      for (std::size_t depth = 0; depth < s.depths.count(); ++depth) {
        product_by_tiles(context, s, job, {bands.begin(band), bands.size(band)}, depth);
      }
    }
  }
}

void matmul(CpuContext& context, std::span<const View> views, const void* params) {
  const MatmulParams p = merge_batch(*static_cast<const MatmulParams*>(params));
  const std::size_t entries = std::size_t{p.batch0} * p.batch1;
  if (p.m == 0 || p.n == 0 || entries == 0) return;
  const bool accumulate = p.accumulate != 0;
  if (p.k == 0 && accumulate) return;
  const bool bias = views[2] && !accumulate, pre = views[3] && !accumulate;
  float* const c = floats(views[4]);
  // Without an inner size the operands may be absent; nothing is read through these pointers then.
  const MatmulJob whole{p.k == 0 ? c : floats(views[0]), p.k == 0 ? c : floats(views[1]),
                        bias ? floats(views[2]) : nullptr, pre ? floats(views[3]) : nullptr, c};
  const Product s{p.m,
                  p.n,
                  p.k,
                  p.lda,
                  p.ldb,
                  p.ldc,
                  p.form == LLMTOOL_MATMUL_NT,
                  p.form == LLMTOOL_MATMUL_TN,
                  accumulate,
                  accumulate ? LLMTOOL_ACT_NONE : p.activation,
                  EvenParts(p.k, k_block, 4)};
  const bool many_small = entries >= 4 && s.m * s.k <= (1 << 16);
  if (s.m <= few_rows || many_small) {
    matmul_by_columns(context, p, s, whole);
  } else {
    matmul_by_tiles(context, p, s, whole);
  }
}

}  // namespace

void register_matmul(KernelRow& row) { row[KernelId::matmul] = matmul; }

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_matmul)
#endif
