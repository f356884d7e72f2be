// Reference gradient norm and optimizers.
#pragma once
#include <cmath>

#include "kernels/params.h"
#include "ref/arguments.h"
#include "ref/scalar_math.h"

namespace llmtool::ref::kernels {

/// Words of StepParams and StepStats.
enum StepWord : std::size_t {
  step_learning_rate = 0,
  step_correction1 = 1,
  step_correction2 = 2,
  step_grad_clip = 3
};
enum StatsWord : std::size_t {
  stats_loss = 0,
  stats_grad_norm = 1,
  stats_clip_scale = 2,
  stats_non_finite = 3
};

template <class T>
void grad_norm_partial(Arguments<T>& v, const GradNormPartialParams& p) {
  const std::size_t n = p.n, part = (n + p.groups - 1) / p.groups;
  for (std::size_t g = 0; g < p.groups; ++g) {
    T sum(0);
    for (std::size_t i = g * part; i < std::min(n, (g + 1) * part); ++i) sum += v[0].get(i) * v[0].get(i);
    const double high = static_cast<double>(static_cast<float>(value_of(sum)));
    v[1].set(2 * (p.first + g), T(high));
    v[1].set(2 * (p.first + g) + 1, std::isfinite(high) ? sum - T(high) : T(0));
  }
}

template <class T>
void grad_norm_finish(Arguments<T>& v, const GradNormFinishParams& p) {
  T sum(0);
  for (std::size_t i = 0; i < 2 * std::size_t{p.count}; ++i) sum += v[0].get(i);
  const T norm = math::sqrt(sum), clip = v[1].get(step_grad_clip);
  const bool finite =
      std::isfinite(static_cast<float>(value_of(norm))) && std::isfinite(value_of(v[2].get(stats_loss)));
  T scale = T(1);
  if (value_of(clip) > 0 && clip / (norm + T(1e-6)) < T(1)) scale = clip / (norm + T(1e-6));
  v[2].set(stats_grad_norm, norm);
  v[2].set(stats_clip_scale, finite ? scale : T(0));
  v[2].set(stats_non_finite, T(finite ? 0 : 1));
}

template <class T>
void adamw(Arguments<T>& v, const OptimizerParams& p) {
  if (value_of(v[5].get(stats_non_finite)) != 0) return;
  const T lr = v[4].get(step_learning_rate), c1 = v[4].get(step_correction1), c2 = v[4].get(step_correction2);
  const T clip = v[5].get(stats_clip_scale), beta1(p.beta1), beta2(p.beta2);
  for (std::size_t i = 0; i < p.n; ++i) {
    const T g = v[1].get(i) * clip;
    const T m = beta1 * v[2].get(i) + (T(1) - beta1) * g;
    const T s = beta2 * v[3].get(i) + (T(1) - beta2) * g * g;
    T x = v[0].get(i);
    if (i < p.n_decay) x -= lr * T(p.weight_decay) * x;
    v[0].set(i, x - lr * (m * c1) / (math::sqrt(s * c2) + T(p.eps)));
    v[2].set(i, m);
    v[3].set(i, s);
  }
}

template <class T>
void sgd(Arguments<T>& v, const OptimizerParams& p) {
  if (value_of(v[4].get(stats_non_finite)) != 0) return;
  const T lr = v[3].get(step_learning_rate), clip = v[4].get(stats_clip_scale);
  for (std::size_t i = 0; i < p.n; ++i) {
    T g = v[1].get(i) * clip;
    if (i < p.n_decay) g += T(p.weight_decay) * v[0].get(i);
    if (v[2]) {
      g += T(p.beta1) * v[2].get(i);
      v[2].set(i, g);
    }
    v[0].set(i, v[0].get(i) - lr * g);
  }
}

}  // namespace llmtool::ref::kernels
