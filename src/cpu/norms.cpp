// layer_norm and rms_norm with their derivatives (Ba, Kiros and Hinton, 2016; Zhang and Sennrich, 2019).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/norms.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/rows-inl.h"
#include "cpu/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

void layer_norm(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const NormParams*>(params);
  const float* x = floats(views[0]);
  const float* gain = floats(views[1]);
  const float* bias = floats(views[2]);
  float* y = floats(views[3]);
  float* stats = floats(views[4]);
  const std::int64_t cols = p.cols;
  const float n = static_cast<float>(cols);
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const Row row{x + r * cols, cols};
    const float mean = row_sum(cols, [&](std::int64_t c) HWY_ATTR { return row.at(c); }) / n;
    const VF m = set(mean);
    const float var = row_sum(cols,
                              [&](std::int64_t c) HWY_ATTR {
                                VF d = hn::Sub(row.at(c), m);
                                if (cols - c < lanes) d = keep_first(d, cols - c, zero());
                                return hn::Mul(d, d);
                              }) /
                      n;
    const float inverse = 1.0f / std::sqrt(var + p.eps);
    stats[2 * r] = mean;
    stats[2 * r + 1] = inverse;
    const VF s = set(inverse);
    if (bias != nullptr) {
      map_range<false>(
          0, cols, y + r * cols,
          [m, s](VF v, VF g, VF b) HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(v, m), s), g, b); }, row.p,
          gain, bias);
    } else {
      map_range<false>(
          0, cols, y + r * cols,
          [m, s](VF v, VF g) HWY_ATTR { return hn::Mul(hn::Mul(hn::Sub(v, m), s), g); }, row.p, gain);
    }
  });
}

// With h = (x - mean) s and g = dy gain: dx = s (g - mean(g) - h mean(g h)).
void layer_norm_backward(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const NormParams*>(params);
  const float* x = floats(views[0]);
  const float* gain = floats(views[1]);
  const float* stats = floats(views[2]);
  const float* dy = floats(views[3]);
  float* dx = floats(views[4]);
  const std::int64_t cols = p.cols;
  const float n = static_cast<float>(cols);
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const Row row{x + r * cols, cols}, upper{dy + r * cols, cols}, g{gain, cols};
    const VF m = set(stats[2 * r]), s = set(stats[2 * r + 1]);
    VF dot = zero();
    const float sum = row_sum(cols, [&](std::int64_t c) HWY_ATTR {
      const VF d = hn::Mul(upper.at(c), g.at(c));  // 0 beyond the end
      dot = hn::MulAdd(d, hn::Mul(hn::Sub(row.at(c), m), s), dot);
      return d;
    });
    const VF a = set(sum / n), b = set(sum_lanes(dot) / n);
    const auto f = [=](VF v, VF w, VF d) HWY_ATTR {
      const VF h = hn::Mul(hn::Sub(v, m), s);
      return hn::Mul(s, hn::NegMulAdd(h, b, hn::Sub(hn::Mul(d, w), a)));
    };
    p.accumulate != 0 ? map_range<true>(0, cols, dx + r * cols, f, row.p, gain, upper.p)
                      : map_range<false>(0, cols, dx + r * cols, f, row.p, gain, upper.p);
  });
}

void layer_norm_backward_params(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const NormParams*>(params);
  const float* x = floats(views[0]);
  const float* stats = floats(views[1]);
  const float* dy = floats(views[2]);
  const std::int64_t cols = p.cols;
  column_sums<2>(context, p.rows, cols, 1.0f, p.accumulate != 0, {floats(views[3]), floats(views[4])},
                 [=](std::int64_t r, std::int64_t c, std::int64_t count, VF* sums) HWY_ATTR {
                   const std::int64_t at = r * cols + c;
                   const VF d = count == lanes ? load(dy + at) : load_part(dy + at, count);
                   const VF v = count == lanes ? load(x + at) : load_part(x + at, count);
                   const VF h = hn::Mul(hn::Sub(v, set(stats[2 * r])), set(stats[2 * r + 1]));
                   sums[0] = hn::MulAdd(d, h, sums[0]);
                   sums[1] = hn::Add(sums[1], d);
                 });
}

void rms_norm(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const NormParams*>(params);
  const float* x = floats(views[0]);
  const float* gain = floats(views[1]);
  float* y = floats(views[2]);
  float* stats = floats(views[3]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const Row row{x + r * cols, cols};
    const float sum = row_sum(cols, [&](std::int64_t c) HWY_ATTR { return hn::Mul(row.at(c), row.at(c)); });
    const float inverse = 1.0f / std::sqrt(sum / static_cast<float>(cols) + p.eps);
    stats[r] = inverse;
    const VF s = set(inverse);
    map_range<false>(
        0, cols, y + r * cols, [s](VF v, VF g) HWY_ATTR { return hn::Mul(hn::Mul(v, s), g); }, row.p, gain);
  });
}

// With h = x s and g = dy gain: dx = s (g - h mean(g h)).
void rms_norm_backward(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const NormParams*>(params);
  const float* x = floats(views[0]);
  const float* gain = floats(views[1]);
  const float* stats = floats(views[2]);
  const float* dy = floats(views[3]);
  float* dx = floats(views[4]);
  const std::int64_t cols = p.cols;
  in_rows(context, p.rows, cols, [&](std::int64_t r, int) HWY_ATTR {
    const Row row{x + r * cols, cols}, upper{dy + r * cols, cols}, g{gain, cols};
    const VF s = set(stats[r]);
    const float dot = row_sum(cols, [&](std::int64_t c) HWY_ATTR {
      return hn::Mul(hn::Mul(upper.at(c), g.at(c)), hn::Mul(row.at(c), s));
    });
    const VF b = set(dot / static_cast<float>(cols));
    const auto f = [=](VF v, VF w, VF d)
                       HWY_ATTR { return hn::Mul(s, hn::NegMulAdd(hn::Mul(v, s), b, hn::Mul(d, w))); };
    p.accumulate != 0 ? map_range<true>(0, cols, dx + r * cols, f, row.p, gain, upper.p)
                      : map_range<false>(0, cols, dx + r * cols, f, row.p, gain, upper.p);
  });
}

void rms_norm_backward_params(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const NormParams*>(params);
  const float* x = floats(views[0]);
  const float* stats = floats(views[1]);
  const float* dy = floats(views[2]);
  const std::int64_t cols = p.cols;
  column_sums<1>(context, p.rows, cols, 1.0f, p.accumulate != 0, {floats(views[3])},
                 [=](std::int64_t r, std::int64_t c, std::int64_t count, VF* sums) HWY_ATTR {
                   const std::int64_t at = r * cols + c;
                   const VF d = count == lanes ? load(dy + at) : load_part(dy + at, count);
                   const VF v = count == lanes ? load(x + at) : load_part(x + at, count);
                   sums[0] = hn::MulAdd(d, hn::Mul(v, set(stats[r])), sums[0]);
                 });
}

}  // namespace

void register_norms(KernelRow& row) {
  row[KernelId::layer_norm] = layer_norm;
  row[KernelId::layer_norm_backward] = layer_norm_backward;
  row[KernelId::layer_norm_backward_params] = layer_norm_backward_params;
  row[KernelId::rms_norm] = rms_norm;
  row[KernelId::rms_norm_backward] = rms_norm_backward;
  row[KernelId::rms_norm_backward_params] = rms_norm_backward_params;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_norms)
#endif
