// The end of a training step: the norm of all gradients, the factor that clips them, AdamW and SGD.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/optimizers.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

StepParams step_params(const View& v) {
  StepParams p;
  std::memcpy(&p, v.block->host + v.offset, sizeof p);
  return p;
}
StepStats step_stats(const View& v) {
  StepStats s;
  std::memcpy(&s, v.block->host + v.offset, sizeof s);
  return s;
}

void grad_norm_partial(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const GradNormPartialParams*>(params);
  const float* gradients = floats(views[0]);
  float* partials = floats(views[1]) + std::int64_t{2} * p.first;
  const std::int64_t n = p.n, groups = p.groups, size = chunks_of(n, groups);
  const auto part = [&](std::int64_t g, int) {
    const std::int64_t begin = std::min(n, g * size), end = std::min(n, begin + size);
    const double sum = sum_in_double(gradients + begin, end - begin, [](double v) { return v * v; });
    const float high = static_cast<float>(sum);
    partials[2 * g] = high;
    partials[2 * g + 1] = std::isfinite(high) ? static_cast<float>(sum - static_cast<double>(high)) : 0.0f;
  };
  if (n <= flat_chunk) {
    for (std::int64_t g = 0; g < groups; ++g) part(g, 0);
  } else {
    context.pool().parallel_for(groups, part);
  }
}

void grad_norm_finish(CpuContext&, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const GradNormFinishParams*>(params);
  const float* partials = floats(views[0]);
  const float clip = step_params(views[1]).grad_clip;
  StepStats stats = step_stats(views[2]);
  double sum = 0;
  for (std::int64_t i = 0; i < p.count; ++i) {
    sum += static_cast<double>(partials[2 * i]) + static_cast<double>(partials[2 * i + 1]);
  }
  const double norm = std::sqrt(sum);
  stats.grad_norm = static_cast<float>(norm);
  const bool finite = std::isfinite(stats.grad_norm) && std::isfinite(stats.loss);
  const double factor = clip > 0 ? static_cast<double>(clip) / (norm + 1e-6) : 1.0;
  stats.clip_scale = finite ? static_cast<float>(std::min(1.0, factor)) : 0.0f;
  stats.non_finite = finite ? 0.0f : 1.0f;
  std::memcpy(views[2].block->host + views[2].offset, &stats, sizeof stats);
}

void adamw(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const OptimizerParams*>(params);
  float* value = floats(views[0]);
  const float* gradient = floats(views[1]);
  float* first = floats(views[2]);
  float* second = floats(views[3]);
  const StepParams step = step_params(views[4]);
  const StepStats stats = step_stats(views[5]);
  if (stats.non_finite != 0) return;
  const auto range = [&](std::int64_t begin, std::int64_t end, float weight_decay) HWY_ATTR {
    const VF clip = set(stats.clip_scale), beta1 = set(p.beta1), rest1 = set(1.0f - p.beta1);
    const VF beta2 = set(p.beta2), rest2 = set(1.0f - p.beta2), eps = set(p.eps);
    const VF rate_c1 = set(step.learning_rate * step.bias_correction1), c2 = set(step.bias_correction2);
    const VF decay = set(step.learning_rate * weight_decay);
    const auto one = [&](VF g, VF& m, VF& v, VF w) HWY_ATTR {
      g = hn::Mul(g, clip);
      m = hn::MulAdd(beta1, m, hn::Mul(rest1, g));
      v = hn::MulAdd(beta2, v, hn::Mul(rest2, hn::Mul(g, g)));
      w = hn::NegMulAdd(decay, w, w);
      return hn::Sub(w, hn::Div(hn::Mul(rate_c1, m), hn::Add(hn::Sqrt(hn::Mul(v, c2)), eps)));
    };
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      VF m = load(first + i), v = load(second + i);
      store(one(load(gradient + i), m, v, load(value + i)), value + i);
      store(m, first + i);
      store(v, second + i);
    }
    if (i < end) {
      const std::int64_t left = end - i;
      VF m = load_part(first + i, left), v = load_part(second + i, left);
      store_part(one(load_part(gradient + i, left), m, v, load_part(value + i, left)), value + i, left);
      store_part(m, first + i, left);
      store_part(v, second + i, left);
    }
  };
  const std::int64_t decayed = p.n_decay;
  in_chunks(context, p.n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) {
    const std::int64_t middle = std::clamp(decayed, begin, end);
    range(begin, middle, p.weight_decay);
    range(middle, end, 0.0f);
  });
}

void sgd(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const OptimizerParams*>(params);
  float* value = floats(views[0]);
  const float* gradient = floats(views[1]);
  float* buffer = floats(views[2]);
  const StepParams step = step_params(views[3]);
  const StepStats stats = step_stats(views[4]);
  if (stats.non_finite != 0) return;
  const auto range = [&](std::int64_t begin, std::int64_t end, float weight_decay) HWY_ATTR {
    const VF clip = set(stats.clip_scale), decay = set(weight_decay), rate = set(step.learning_rate);
    const VF momentum = set(p.beta1);
    const auto clipped = [=](VF g, VF w) HWY_ATTR { return hn::MulAdd(decay, w, hn::Mul(g, clip)); };
    const auto down = [rate](VF w, VF g) HWY_ATTR { return hn::NegMulAdd(rate, g, w); };
    const float* g = gradient;
    float* w = value;
    if (buffer != nullptr) {
      map_range<false>(
          begin, end, buffer,
          [=](VF b, VF u, VF x) HWY_ATTR { return hn::MulAdd(momentum, b, clipped(u, x)); }, buffer, g, w);
      map_range<false>(begin, end, w, down, w, buffer);
    } else {
      map_range<false>(
          begin, end, w, [=](VF x, VF u) HWY_ATTR { return down(x, clipped(u, x)); }, w, g);
    }
  };
  const std::int64_t decayed = p.n_decay;
  in_chunks(context, p.n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) {
    const std::int64_t middle = std::clamp(decayed, begin, end);
    range(begin, middle, p.weight_decay);
    range(middle, end, 0.0f);
  });
}

}  // namespace

void register_optimizers(KernelRow& row) {
  row[KernelId::grad_norm_partial] = grad_norm_partial;
  row[KernelId::grad_norm_finish] = grad_norm_finish;
  row[KernelId::adamw] = adamw;
  row[KernelId::sgd] = sgd;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_optimizers)
#endif
