// One optimizer step as launches: gradient norm, clip scale, update; nothing is read back. What changes from
// step to step comes from StepParams in device memory, what the step reports goes to StepStats. Not here: the
// loop, the schedule.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/params.h"
#include "tensor/parameter_slabs.h"

namespace llmtool {

/// The device's copies of StepParams and StepStats: addresses that never change.
class StepState {
 public:
  explicit StepState(Device& device);
  void stage(const StepParams& params);     ///< Also zeroes the statistics.
  void add_loss(const Tensor& micro_loss);  ///< StepStats::loss += a micro-batch's loss.
  const Tensor& params() const noexcept { return params_; }
  const Tensor& stats() const noexcept { return stats_; }
  Tensor loss() const;         ///< StepStats::loss as a scalar.
  Tensor inv_targets() const;  ///< StepParams::inv_targets as a scalar.

 private:
  Tensor params_, stats_;
};

enum class OptimizerKind { adamw, sgd };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  float weight_decay = 0.01f;
  float beta1 = 0.9f;  ///< sgd: momentum
  float beta2 = 0.999f;
  float eps = 1e-8f;
};

class Optimizer {
 public:
  /// Makes the moments it needs in the slabs, which must outlive it.
  Optimizer(ParameterSlabs& slabs, OptimizerOptions options);
  /// Records the norm, the clip scale and the update; state must be staged for this step.
  void step(StepState& state);
  /// 1 / (1 - beta^t) for the 1-based step t, in double.
  static double bias_correction(double beta, std::uint64_t t) noexcept;

 private:
  ParameterSlabs& slabs_;
  OptimizerOptions options_;
  Tensor partials_;
  std::uint32_t groups_ = 0;
};

/// Rate of step i (from 0): max_lr (i+1)/warmup during the warm-up, then a cosine from max_lr at i = warmup
/// to min_lr at i = steps. (Loshchilov and Hutter, "SGDR", 2017.) Finite for every warmup, warmup >= steps
/// included.
double warmup_cosine(std::int64_t i, std::int64_t warmup, std::int64_t steps, double max_lr,
                     double min_lr) noexcept;

}  // namespace llmtool
