// sum_to and expand: sums over dimensions, and their opposite.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/strided.h"
#include "cpu/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

/// The shape with neighbouring dimensions of one kind merged: kept, summed, kept, summed, kept.
struct Pattern {
  std::int64_t size[5] = {1, 1, 1, 1, 1};

  explicit Pattern(const ReduceParams& p) {
    int at = 0;
    for (int d = 0; d < 4; ++d) {
      if (p.shape[d] == 1) continue;
      const bool summed = p.out_shape[d] == 1;
      if ((at % 2 == 1) != summed) ++at;
      size[at] *= p.shape[d];
    }
  }
};

/// All of x to one value: fixed chunks in double, added in order.
double sum_all(CpuContext& context, const float* x, std::int64_t n) {
  const std::int64_t chunks = chunks_of(n, flat_chunk);
  double* partial = context.shared<double>(static_cast<std::size_t>(std::max<std::int64_t>(chunks, 1)));
  in_chunks(context, n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) {
    partial[begin / flat_chunk] = sum_in_double(x + begin, end - begin);
  });
  double sum = 0;
  for (std::int64_t c = 0; c < chunks; ++c) sum += partial[c];
  return sum;
}

/// Sums over interleaved dimensions: every output on its own, in double.
void sum_general(CpuContext& context, const Pattern& s, const float* x, const auto& put) {
  const auto [k0, r0, k1, r1, k2] = s.size;
  const std::int64_t work = std::max<std::int64_t>(1, r0 * r1);
  const std::int64_t k1v = k1, r0v = r0, r1v = r1, k2v = k2;
  in_chunks(context, k0 * k1 * k2, rows_per_chunk(work), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t c = i % k2v, b = i / k2v % k1v, a = i / k2v / k1v;
      double sum = 0;
      for (std::int64_t u = 0; u < r0v; ++u) {
        const float* from = x + (((a * r0v + u) * k1v + b) * r1v) * k2v + c;
        for (std::int64_t v = 0; v < r1v; ++v) sum += static_cast<double>(from[v * k2v]);
      }
      put(i, sum);
    }
  });
}

void sum_to(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const ReduceParams*>(params);
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  const Pattern s(p);
  const auto [k0, r0, k1, r1, k2] = s.size;
  const bool accumulate = p.accumulate != 0;
  const auto put = [y, accumulate, scale = static_cast<double>(p.scale)](std::int64_t i, double sum) {
    const float v = static_cast<float>(scale * sum);
    y[i] = accumulate ? y[i] + v : v;
  };
  if (k0 * k1 * k2 == 1) return put(0, sum_all(context, x, p.n));
  if (r0 * r1 == 1) {
    const VF scale = set(p.scale);
    return map(
        context, p.n, accumulate, y, [scale](VF v) HWY_ATTR { return hn::Mul(scale, v); }, x);
  }
  if (r0 > 1 && r1 * k2 == 1 && k1 >= 8) {
    const std::int64_t rows = r0, cols = k1;
    for (std::int64_t b = 0; b < k0; ++b) {
      const float* from = x + b * rows * cols;
      column_sums<1>(context, rows, cols, p.scale, accumulate, {y + b * cols},
                     [from, cols](std::int64_t r, std::int64_t c, std::int64_t count, VF* sums) HWY_ATTR {
                       const float* at = from + r * cols + c;
                       sums[0] = hn::Add(sums[0], count == lanes ? load(at) : load_part(at, count));
                     });
    }
    return;
  }
  if (k1 * r1 * k2 == 1) {
    const std::int64_t cols = r0;
    return in_rows(context, k0, cols,
                   [&](std::int64_t r, int) { put(r, sum_in_double(x + r * cols, cols)); });
  }
  sum_general(context, s, x, put);
}

void expand(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const ReduceParams*>(params);
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  std::uint32_t strides[4];
  std::uint32_t stride = 1;
  for (int d = 3; d >= 0; --d) {
    strides[d] = p.out_shape[d] == 1 ? 0 : stride;
    stride *= p.out_shape[d];
  }
  const Strided runs(p.shape, strides, nullptr);
  const VF scale = set(p.scale);
  const auto scaled = [scale](VF v) HWY_ATTR { return hn::Mul(scale, v); };
  in_chunks(context, p.n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) {
    runs.pieces(begin, end,
                [&](std::int64_t at, std::int64_t at_x, std::int64_t, std::int64_t count) HWY_ATTR {
                  if (runs.a[0] == 1) {
                    p.accumulate != 0 ? map_range<true>(0, count, y + at, scaled, x + at_x)
                                      : map_range<false>(0, count, y + at, scaled, x + at_x);
                    return;
                  }
                  const float v = p.scale * x[at_x];  // one value for the whole run
                  const VF all = set(v);
                  const auto same = [all](VF) HWY_ATTR { return all; };
                  p.accumulate != 0 ? map_range<true>(0, count, y + at, same, y + at)
                                    : map_range<false>(0, count, y + at, same, y + at);
                });
  });
}

}  // namespace

void register_reduce(KernelRow& row) {
  row[KernelId::sum_to] = sum_to;
  row[KernelId::expand] = expand;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_reduce)
#endif
