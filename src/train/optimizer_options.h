// The train section as the optimizer wants it. Not here: the optimizer.
#pragma once
#include "checkpoint/train_config.h"
#include "nn/module.h"
#include "optim/optimizer.h"

namespace llmtool {

inline DecayRule decay_rule(const TrainConfig& config) {
  return config.train.decay == "all" ? DecayRule::all : DecayRule::matrices;
}

inline OptimizerOptions optimizer_options(const TrainOptions& t) {
  OptimizerOptions o;
  o.kind = t.optimizer == "sgd" ? OptimizerKind::sgd : OptimizerKind::adamw;
  o.weight_decay = static_cast<float>(t.weight_decay);
  o.beta1 = static_cast<float>(o.kind == OptimizerKind::sgd ? t.momentum : t.beta1);
  o.beta2 = static_cast<float>(t.beta2);
  o.eps = static_cast<float>(t.eps);
  return o;
}

}  // namespace llmtool
