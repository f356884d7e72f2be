// A small GPT and its training step, for tests of whole steps on any device. Not here: what is expected of
// them, and the loop with its schedule (train/trainer.h).
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "device/device.h"
#include "model/gpt.h"
#include "optim/optimizer.h"
#include "support/catch.h"

namespace llmtool::step_test {

inline constexpr std::int64_t vocab = 17;

inline ModelConfig small(double dropout = 0) {
  ModelConfig c;
  c.n_layer = 2;
  c.n_head = 2;
  c.n_embd = 16;
  c.block_size = 8;
  c.dropout = dropout;
  return c;
}

/// A model and what one step of it needs; micro-batches of `batch` samples.
class Steps {
 public:
  Steps(Device& device, const ModelConfig& config, std::int64_t batch, int micro_batches,
        std::int64_t vocab_size = vocab)
      : device_(device), vocab_(vocab_size), model(config, vocab_size), state(device), batch_(batch) {
    model.materialise(device, true);
    if (device.name() != "counting") model.initialise(5);
    optimizer = std::make_unique<Optimizer>(model.slabs(), OptimizerOptions{});
    for (int m = 0; m < micro_batches; ++m) {
      const std::vector<std::int32_t> zeros(static_cast<std::size_t>(batch * config.block_size));
      ids_.emplace_back(device, zeros, vocab_);
      targets_.emplace_back(device, zeros, vocab_);
      targets_.back().use_scale(state.inv_targets());
    }
  }

  /// Records and submits step `step`; sample s is the same whatever micro-batch it lies in. The loss is
  /// multiplied by `factor`: infinity makes a step that must be skipped.
  Ticket run(std::uint32_t step, float factor = 1) {
    const std::int64_t tokens = batch_ * model.config().block_size;
    StepParams p{};
    p.learning_rate = 1e-2f;
    p.bias_correction1 = static_cast<float>(Optimizer::bias_correction(0.9, step + 1));
    p.bias_correction2 = static_cast<float>(Optimizer::bias_correction(0.999, step + 1));
    p.grad_clip = 1;
    p.inv_targets = factor / static_cast<float>(tokens * static_cast<std::int64_t>(ids_.size()));
    p.loss_scale = 1;
    p.step = step;
    const auto key = stream_key(11, "dropout");
    p.dropout_key0 = key[0];
    p.dropout_key1 = key[1];
    state.stage(p);
    model.zero_grad();
    std::vector<std::int32_t> in(static_cast<std::size_t>(tokens)), out(in.size());
    for (std::size_t m = 0; m < ids_.size(); ++m) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t at = m * in.size() + i;
        in[i] = static_cast<std::int32_t>((at * at / 3 + at + step) % static_cast<std::size_t>(vocab_));
        out[i] = (in[i] * 3 + 1) % static_cast<std::int32_t>(vocab_);
      }
      ids_[m].set(in);
      targets_[m].set(out);
      const ForwardContext context{state.params(), batch_ * static_cast<std::int64_t>(m), recompute};
      const Tensor loss = model.loss(ids_[m], targets_[m], batch_, context);
      loss.backward();
      state.add_loss(loss);
    }
    optimizer->step(state);
    stats = device_.fetch(state.stats().view());
    return device_.submit();
  }

  StepStats result(Ticket ticket) {
    device_.wait(ticket);
    return stats->as<StepStats>().front();
  }

 private:
  Device& device_;
  std::int64_t vocab_;

 public:
  GPT model;
  StepState state;
  std::unique_ptr<Optimizer> optimizer;
  FetchedPtr stats;
  bool recompute = false;  ///< See ForwardContext.

 private:
  std::int64_t batch_;
  std::vector<ops::Index> ids_;
  std::vector<ops::Targets> targets_;
};

/// |a - b| / |a|
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += std::pow(static_cast<double>(a[i]), 2);
  }
  return std::sqrt(difference / (size + 1e-30));
}

/// Every gradient of `got` is that of `wanted`, to a relative distance below `allowed`; but for those of key
/// biases without `key_biases`, where they are zero but for rounding.
inline void check_gradients(Steps& wanted, Steps& got, double allowed, bool key_biases = true) {
  const auto left = wanted.model.named_parameters(), right = got.model.named_parameters();
  REQUIRE(left.size() == right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    INFO(left[i].name);
    if (!key_biases && left[i].name.ends_with("attn.k.bias")) continue;
    CHECK(distance(left[i].parameter->tensor.grad().to_host(), right[i].parameter->tensor.grad().to_host()) <
          allowed);
  }
}

}  // namespace llmtool::step_test
