// The optimizer step as launches; see optimizer.h. Not here: the schedule (schedule.cpp).
#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace llmtool {
namespace {

constexpr std::int64_t words(std::size_t bytes) { return static_cast<std::int64_t>(bytes / sizeof(float)); }
constexpr std::int64_t loss_word = words(offsetof(StepStats, loss));
constexpr std::int64_t inv_targets_word = words(offsetof(StepParams, inv_targets));

/// Parts of the sum of squares of one slab, from its size alone and none of them empty: the sum is cut the
/// same way on every device.
std::uint32_t norm_groups(std::int64_t n) noexcept {
  const std::int64_t part = std::max<std::int64_t>(1024, (n + 255) / 256);
  return static_cast<std::uint32_t>((n + part - 1) / part);
}

}  // namespace

StepState::StepState(Device& device)
    : params_(Tensor::zeros(device, Shape{words(sizeof(StepParams))})),
      stats_(Tensor::zeros(device, Shape{words(sizeof(StepStats))})) {}

void StepState::stage(const StepParams& params) {
  Device& device = params_.device();
  device.stage(params_.view(), std::as_bytes(std::span(&params, 1)));
  params_.mark_changed();
  device.fill(stats_.view(), 0);
  stats_.mark_changed();
}

Tensor StepState::loss() const { return stats_.alias(loss_word, Shape{}); }

Tensor StepState::inv_targets() const { return params_.alias(inv_targets_word, Shape{}); }

void StepState::add_loss(const Tensor& micro_loss) {
  LLMTOOL_CHECK(micro_loss.numel() == 1, "a loss of shape ", micro_loss.shape().str());
  const Tensor total = loss();
  launch<KernelId::affine>(total.device(), {micro_loss.view(), total.view()}, {1, 1, 0, 1});
  total.mark_changed();
}

Optimizer::Optimizer(ParameterSlabs& slabs, OptimizerOptions options) : slabs_(slabs), options_(options) {
  const bool adamw = options_.kind == OptimizerKind::adamw;
  slabs_.make_moments(adamw || options_.beta1 != 0, adamw);
  for (const Slab& slab : slabs_.slabs()) {
    LLMTOOL_CHECK(slab.grads.defined(), "an optimizer needs gradients");
    groups_ += norm_groups(slab.n);
  }
  if (groups_ > 0) {
    partials_ = Tensor::zeros(slabs_.slabs().front().values.device(), Shape{std::int64_t{2} * groups_});
  }
}

void Optimizer::step(StepState& state) {
  if (groups_ == 0) return;
  Device& device = partials_.device();
  const View params = state.params().view();
  const View stats = state.stats().view();

  std::uint32_t first = 0;
  for (const Slab& slab : slabs_.slabs()) {
    const std::uint32_t groups = norm_groups(slab.n);
    launch<KernelId::grad_norm_partial>(device, {slab.grads.view(), partials_.view()},
                                        {static_cast<std::uint32_t>(slab.n), groups, first});
    first += groups;
  }
  launch<KernelId::grad_norm_finish>(device, {partials_.view(), params, stats}, {groups_});

  for (Slab& slab : slabs_.slabs()) {
    const OptimizerParams p{static_cast<std::uint32_t>(slab.n),
                            static_cast<std::uint32_t>(slab.n_decay),
                            options_.weight_decay,
                            options_.beta1,
                            options_.beta2,
                            options_.eps};
    if (options_.kind == OptimizerKind::adamw) {
      launch<KernelId::adamw>(
          device,
          {slab.values.view(), slab.grads.view(), slab.moment1.view(), slab.moment2.view(), params, stats},
          p);
    } else {
      const View momentum = options_.beta1 != 0 ? slab.moment1.view() : View{};
      launch<KernelId::sgd>(device, {slab.values.view(), slab.grads.view(), momentum, params, stats}, p);
    }
    slab.values.mark_changed();
    if (slab.moment1.defined()) slab.moment1.mark_changed();
    if (slab.moment2.defined()) slab.moment2.mark_changed();
  }
}

double Optimizer::bias_correction(double beta, std::uint64_t t) noexcept {
  return 1.0 / (1.0 - std::pow(beta, static_cast<double>(t)));
}

}  // namespace llmtool
