// One training step as one submission; see training_step.h.
#include "train/training_step.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/rng.h"

namespace llmtool {

namespace {

Device& device_of(GPT& model) { return model.slabs().slabs().front().values.device(); }

StepParams step_params(std::uint64_t i, const OptimizerOptions& options, double learning_rate,
                       double grad_clip, std::uint64_t seed, std::int64_t counted) {
  StepParams p{};
  p.learning_rate = static_cast<float>(learning_rate);
  p.bias_correction1 =
      static_cast<float>(Optimizer::bias_correction(static_cast<double>(options.beta1), i + 1));
  p.bias_correction2 =
      static_cast<float>(Optimizer::bias_correction(static_cast<double>(options.beta2), i + 1));
  p.grad_clip = static_cast<float>(grad_clip);
  p.inv_targets = counted > 0 ? static_cast<float>(1.0 / static_cast<double>(counted)) : 0.0f;
  p.loss_scale = 1;
  p.step = static_cast<std::uint32_t>(i);
  const auto key = stream_key(seed, "dropout");
  p.dropout_key0 = key[0];
  p.dropout_key1 = key[1];
  return p;
}

}  // namespace

TrainingStep::TrainingStep(GPT& model, const OptimizerOptions& options, std::int64_t batch_size,
                           std::int64_t micro_batches, bool recompute)
    : model_(model),
      device_(device_of(model)),
      options_(options),
      batch_size_(batch_size),
      micro_batches_(micro_batches),
      recompute_(recompute),
      state_(device_),
      optimizer_(model.slabs(), options) {}

void TrainingStep::run(std::uint64_t i, std::span<const Batch> batches, double learning_rate,
                       double grad_clip, std::uint64_t seed, const Report& report) {
  LLMTOOL_CHECK(static_cast<std::int64_t>(batches.size()) == micro_batches_, batches.size(), " batches");
  const DeviceStats before = device_.stats();
  const Ticket last = device_.submitted();
  // The step before the last one is the latest that may be waited for here.
  while (outstanding_.size() >= 2) collect(report);

  std::int64_t counted = 0;
  for (const Batch& batch : batches) counted += batch.counted;
  state_.stage(step_params(i, options_, learning_rate, grad_clip, seed, counted));
  model_.slabs().zero_grads();
  for (std::int64_t micro = 0; micro < micro_batches_; ++micro) {
    const Batch& batch = batches[static_cast<std::size_t>(micro)];
    if (ids_.size() == 0) {
      ids_ = ops::Index(device_, batch.inputs, model_.vocab_size());
      targets_ = ops::Targets(device_, batch.targets, model_.vocab_size());
      targets_.use_scale(state_.inv_targets());
    } else {
      ids_.set(batch.inputs);
      targets_.set(batch.targets);
    }
    const Tensor loss =
        model_.loss(ids_, targets_, batch_size_, {state_.params(), micro * batch_size_, recompute_});
    loss.backward();
    state_.add_loss(loss);
  }
  optimizer_.step(state_);
  FetchedPtr stats = device_.fetch(state_.stats().view());
  outstanding_.push_back({i, device_.submit(), std::move(stats)});

  const DeviceStats& after = device_.stats();
  ++counters_.steps;
  counters_.max_submits = std::max(counters_.max_submits, after.submits - before.submits);
  counters_.max_waits = std::max(counters_.max_waits, after.waits - before.waits);
  if (after.waits > before.waits && after.last_waited >= last && last > 0)
    counters_.waited_for_own_ticket = true;
  counters_.max_bytes_fetched =
      std::max(counters_.max_bytes_fetched, after.bytes_fetched - before.bytes_fetched);
  if (counters_.steps > 1) counters_.new_blocks_after_first += after.blocks - before.blocks;
}

void TrainingStep::collect(const Report& report) {
  const Outstanding next = std::move(outstanding_.front());
  outstanding_.pop_front();
  device_.wait(next.ticket);
  StepStats stats;
  std::memcpy(&stats, next.stats->bytes().data(), sizeof stats);
  if (report) report(next.step, stats);
}

void TrainingStep::drain(const Report& report) {
  while (!outstanding_.empty()) collect(report);
}

}  // namespace llmtool
