// permute, gather_rows, scatter_rows: elements and rows moved from one place to another.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/layout.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/simd-inl.h"
#include "cpu/strided.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Same {
  HWY_INLINE VF operator()(VF v) const { return v; }
};

void permute(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const PermuteParams*>(params);
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  const bool accumulate = p.accumulate != 0;
  const Strided runs(p.shape, p.x_stride, nullptr);
  in_chunks(context, p.n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) {
    runs.pieces(begin, end, [&](std::int64_t at, std::int64_t at_x, std::int64_t, std::int64_t count) {
      if (runs.a[0] == 1) {
        if (accumulate) {
          map_range<true>(0, count, y + at, Same{}, x + at_x);
        } else {
          std::memcpy(y + at, x + at_x, static_cast<std::size_t>(count) * sizeof(float));
        }
        return;
      }
      const std::int64_t stride = runs.a[0];
      for (std::int64_t i = 0; i < count; ++i) {
        const float v = x[at_x + i * stride];
        y[at + i] = accumulate ? y[at + i] + v : v;
      }
    });
  });
}

void gather_rows(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const GatherParams*>(params);
  const float* table = floats(views[0]);
  const std::int32_t* ids = ints(views[1]);
  float* y = floats(views[2]);
  const std::int64_t cols = p.cols;
  const std::size_t bytes = static_cast<std::size_t>(cols) * sizeof(float);
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) {
    if (ids[r] < 0) {
      std::memset(y + r * cols, 0, bytes);
    } else {
      std::memcpy(y + r * cols, table + ids[r] * cols, bytes);
    }
  });
}

// Every id has one owner, so no two threads add to one row; the rows of an id are added in the order of the
// plan.
void scatter_rows(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const GatherParams*>(params);
  const float* dy = floats(views[0]);
  const std::int32_t* plan = ints(views[1]);
  float* table = floats(views[2]);
  const std::int64_t cols = p.cols, rows = p.rows, count = plan[0];
  const std::int32_t* ids = plan + 1;
  const std::int32_t* starts = ids + rows;
  const std::int32_t* order = starts + rows + 1;
  const auto one_id = [&](std::int64_t u, int) HWY_ATTR {
    if (ids[u] < 0) return;
    float* to = table + ids[u] * cols;
    for (std::int64_t c = 0; c < cols; c += lanes) {
      const std::int64_t left = std::min(lanes, cols - c);
      VF sum = zero();
      for (std::int32_t i = starts[u]; i < starts[u + 1]; ++i) {
        const float* from = dy + order[i] * cols + c;
        sum = hn::Add(sum, left == lanes ? load(from) : load_part(from, left));
      }
      if (left == lanes) {
        store(hn::Add(load(to + c), sum), to + c);
      } else {
        store_part(hn::Add(load_part(to + c, left), sum), to + c, left);
      }
    }
  };
  if (rows * cols <= flat_chunk) {
    for (std::int64_t u = 0; u < count; ++u) one_id(u, 0);
  } else {
    context.pool().parallel_for(count, one_id);
  }
}

}  // namespace

void register_layout(KernelRow& row) {
  row[KernelId::permute] = permute;
  row[KernelId::gather_rows] = gather_rows;
  row[KernelId::scatter_rows] = scatter_rows;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_layout)
#endif
