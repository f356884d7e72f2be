// Memory and arithmetic of a run, counted on a device that does nothing.
#include "train/memory_plan.h"

#include <algorithm>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "device/counting_device.h"
#include "model/gpt.h"
#include "tensor/autograd.h"
#include "train/optimizer_options.h"
#include "train/training_step.h"

namespace llmtool {

namespace {

Batch dummy_batch(std::int64_t batch, std::int64_t block) {
  const auto n = static_cast<std::size_t>(batch * block);
  return {batch, block, std::vector<std::int32_t>(n, 0), std::vector<std::int32_t>(n, 0), batch * block};
}

/// Steps and evaluations on windows that tell nothing.
class Rehearsal {
 public:
  Rehearsal(const TrainConfig& config, GPT& model, Device& device, std::int64_t windows, std::int64_t micros)
      : train_(config.train),
        model_(model),
        device_(device),
        windows_(windows),
        batches_(static_cast<std::size_t>(micros), dummy_batch(windows, config.model.block_size)),
        step_(model, optimizer_options(config.train), windows, micros, config.train.recompute) {}

  void step() {
    throw_if_interrupted();
    model_.train();
    step_.run(done_++, batches_, train_.max_lr, train_.grad_clip, train_.seed, {});
    step_.drain({});
  }
  /// What it makes for the ids stays, as in a run.
  void evaluate() {
    const NoGrad no_grad;
    const Batch& batch = batches_.front();
    model_.eval();
    if (ids_.size() == 0) {
      ids_ = ops::Index(device_, batch.inputs, model_.vocab_size());
      targets_ = ops::Targets(device_, batch.targets, model_.vocab_size());
    }
    model_.loss(ids_, targets_, windows_);
  }

 private:
  const TrainOptions& train_;
  GPT& model_;
  Device& device_;
  std::int64_t windows_;
  std::vector<Batch> batches_;
  TrainingStep step_;
  ops::Index ids_;
  ops::Targets targets_;
  std::uint64_t done_ = 0;
};

/// Counts one step and one evaluation of `windows` windows on a device that only counts.
void count_step(const TrainConfig& config, GPT& model, CountingDevice& device, std::int64_t windows,
                MemoryPlan& plan) {
  Rehearsal rehearsal(config, model, device, windows, 1);
  for (const Slab& slab : model.slabs().slabs()) {
    plan.parameter_bytes += slab.values.view().bytes;
    plan.gradient_bytes += slab.grads.view().bytes;
    for (const Tensor& moment : {slab.moment1, slab.moment2})
      if (moment.defined()) plan.moment_bytes += moment.view().bytes;
  }
  device.pool().reset_peak();
  const std::uint64_t launches = device.stats().launches;
  rehearsal.step();
  plan.launches_per_step = device.stats().launches - launches;
  rehearsal.evaluate();
  const std::uint64_t slabs = plan.parameter_bytes + plan.gradient_bytes + plan.moment_bytes;
  const std::uint64_t peak = device.pool().peak_bytes();
  plan.activation_bytes = peak > slabs ? peak - slabs : 0;
}

/// A host batch of full size would itself be a large thing: memory is linear in the windows, so that batches
/// of this many and of twice as many tell what a larger one takes.
std::int64_t few_windows(const TrainConfig& config) {
  constexpr std::int64_t counted_tokens = std::int64_t{1} << 18;
  return std::max<std::int64_t>(1, counted_tokens / config.model.block_size);
}

/// What may help: first what changes nothing but time, where the weights and what belongs to them are not too
/// much alone.
std::string knobs(const MemoryPlan& plan, std::uint64_t there) {
  const bool activations_help = plan.total_bytes() - plan.activation_bytes <= there;
  return cat(activations_help ? "set train.recompute, make train.batch_size smaller with a larger "
                                "train.grad_accum_steps, or "
                              : "",
             "make model.n_embd, n_layer, block_size or the vocabulary smaller");
}

/// What a run needs, for a message.
std::string need_text(const MemoryPlan& plan) {
  return cat(bytes_text(plan.total_bytes()), " of memory (", memory_parts_text(plan), ")");
}

/// Throws what the device's memory throws in two rounds of a step and an evaluation: the same requests get
/// the same places as in the run.
void rehearse(const TrainConfig& config, std::int64_t vocab_size, const Device& like) {
  CountingDevice device(like.caps(), &like);
  GPT model(config.model, vocab_size);
  model.materialise(device, true, decay_rule(config));
  Rehearsal rehearsal(config, model, device, config.train.batch_size,
                      std::min<std::int64_t>(2, config.train.grad_accum_steps));
  for (int round = 0; round < 2; ++round) {
    rehearsal.step();
    rehearsal.evaluate();
  }
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  if (bytes >= std::uint64_t{1} << 30) return fixed(b / double(1 << 30), 2) + " GiB";
  if (bytes >= std::uint64_t{1} << 20) return fixed(b / double(1 << 20), 1) + " MiB";
  return fixed(b / 1024, 1) + " KiB";
}

std::string memory_parts_text(const MemoryPlan& plan) {
  return cat("parameters ", bytes_text(plan.parameter_bytes), ", gradients ", bytes_text(plan.gradient_bytes),
             ", moments ", bytes_text(plan.moment_bytes), ", activations ",
             plan.unplaceable ? "not counted" : bytes_text(plan.activation_bytes));
}

RunSize run_size(const TrainConfig& config, std::int64_t vocab_size) {
  const TrainOptions& t = config.train;
  // The host makes a batch as two lists of 32-bit ids, and kernels count elements in 32 bits.
  constexpr std::int64_t most_tokens = std::int64_t{1} << 31;
  if (config.model.block_size > most_tokens / t.batch_size)
    throw request_error(
        cat("train.batch_size ", t.batch_size, " x model.block_size ", config.model.block_size,
            " is more than the ", most_tokens, " tokens a micro-batch may have"),
        "use a smaller batch_size with a larger grad_accum_steps");
  GPT declared(config.model, vocab_size);
  RunSize size;
  size.parameters = declared.parameter_count();
  size.decayed = declared.decayed_count(decay_rule(config));
  size.tokens_per_step = t.batch_size * t.grad_accum_steps * config.model.block_size;
  size.flops_per_step = declared.flops_per_token() * static_cast<double>(size.tokens_per_step);
  return size;
}

MemoryPlan plan_memory(const TrainConfig& config, std::int64_t vocab_size, const Device* device_like) {
  const TrainOptions& t = config.train;
  MemoryPlan plan;
  static_cast<RunSize&>(plan) = run_size(config, vocab_size);
  DeviceCaps caps = device_like != nullptr ? device_like->caps() : DeviceCaps{};
  caps.memory_bytes = DeviceCaps{}.memory_bytes;
  CountingDevice device(caps, device_like);  // outlives the model, whose memory goes back to it
  GPT model(config.model, vocab_size);
  const OptimizerOptions options = optimizer_options(t);
  try {
    model.materialise(device, true, decay_rule(config));
  } catch (const Error& error) {
    // A tensor above what kernels can address: the slabs' sizes still follow from the count.
    plan.unplaceable = error;
    const auto bytes = static_cast<std::uint64_t>(plan.parameters) * sizeof(float);
    plan.parameter_bytes = plan.gradient_bytes = bytes;
    plan.moment_bytes = bytes * (options.kind == OptimizerKind::adamw ? 2 : options.beta1 > 0 ? 1 : 0);
    return plan;
  }
  const std::int64_t few = few_windows(config);
  if (t.batch_size <= 2 * few) {
    count_step(config, model, device, t.batch_size, plan);
    return plan;
  }
  MemoryPlan twice = plan;
  count_step(config, model, device, few, plan);
  {
    CountingDevice other(caps, device_like);
    GPT again(config.model, vocab_size);
    again.materialise(other, true, decay_rule(config));
    count_step(config, again, other, 2 * few, twice);
  }
  const double per_window =
      (static_cast<double>(twice.activation_bytes) - static_cast<double>(plan.activation_bytes)) /
      static_cast<double>(few);
  plan.activation_bytes += static_cast<std::uint64_t>(per_window * static_cast<double>(t.batch_size - few));
  return plan;
}

void require_memory(const MemoryPlan& plan, const DeviceCaps& caps) {
  if (plan.total_bytes() <= caps.memory_bytes) {
    if (plan.unplaceable) throw *plan.unplaceable;
    return;
  }
  throw world_error(cat("this run needs ", need_text(plan), ", but there is ", bytes_text(caps.memory_bytes)),
                    knobs(plan, caps.memory_bytes));
}

DeviceFit fit_device(const TrainConfig& config, std::int64_t vocab_size, const Device& device) {
  DeviceFit fit{plan_memory(config, vocab_size, &device), std::nullopt};
  const std::uint64_t need = fit.memory.total_bytes(), there = device.caps().memory_bytes;
  try {
    require_memory(fit.memory, device.caps());
  } catch (const Error& error) {
    fit.why_not = error;
  }
  // With twice the need there is room for whatever gaps stay between the pieces.
  if (fit.why_not || need <= there / 2 || config.train.batch_size > 2 * few_windows(config)) return fit;
  try {
    rehearse(config, vocab_size, device);
  } catch (const Error&) {
    fit.why_not = world_error(
        cat("this run needs ", need_text(fit.memory), ", which does not fit the ", bytes_text(there),
            " that there is, since memory is taken in pieces and gaps stay between them"),
        knobs(fit.memory, there));
  }
  return fit;
}

}  // namespace llmtool
