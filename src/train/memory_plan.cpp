// Memory and arithmetic of a run, counted on a device that does nothing.
#include "train/memory_plan.h"

#include <vector>

#include "base/cat.h"
#include "base/error.h"
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

/// Counts one step and one evaluation of `windows` windows on a device that only counts.
void count_step(const TrainConfig& config, GPT& model, CountingDevice& device, std::int64_t windows,
                MemoryPlan& plan) {
  const TrainOptions& t = config.train;
  TrainingStep step(model, optimizer_options(t), windows, 1, t.recompute);
  for (const Slab& slab : model.slabs().slabs()) {
    plan.parameter_bytes += slab.values.view().bytes;
    plan.gradient_bytes += slab.grads.view().bytes;
    for (const Tensor& moment : {slab.moment1, slab.moment2})
      if (moment.defined()) plan.moment_bytes += moment.view().bytes;
  }
  const Batch batch = dummy_batch(windows, config.model.block_size);
  device.pool().reset_peak();
  const std::uint64_t launches = device.stats().launches;
  step.run(0, {&batch, 1}, t.max_lr, t.grad_clip, t.seed, {});
  step.drain({});
  plan.launches_per_step = device.stats().launches - launches;
  {
    const NoGrad no_grad;
    model.eval();
    const ops::Index ids(device, batch.inputs, model.vocab_size());
    const ops::Targets targets(device, batch.targets, model.vocab_size());
    model.loss(ids, targets, windows);
  }
  const std::uint64_t slabs = plan.parameter_bytes + plan.gradient_bytes + plan.moment_bytes;
  const std::uint64_t peak = device.pool().peak_bytes();
  plan.activation_bytes = peak > slabs ? peak - slabs : 0;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  if (bytes >= std::uint64_t{1} << 30) return fixed(b / double(1 << 30), 2) + " GiB";
  if (bytes >= std::uint64_t{1} << 20) return fixed(b / double(1 << 20), 1) + " MiB";
  return fixed(b / 1024, 1) + " KiB";
}

MemoryPlan plan_memory(const TrainConfig& config, std::int64_t vocab_size) {
  const TrainOptions& t = config.train;
  // The host makes a batch as two lists of 32-bit ids, and kernels count elements in 32 bits.
  constexpr std::int64_t most_tokens = std::int64_t{1} << 31;
  if (config.model.block_size > most_tokens / t.batch_size)
    throw request_error(
        cat("train.batch_size ", t.batch_size, " x model.block_size ", config.model.block_size,
            " is more than the ", most_tokens, " tokens a micro-batch may have"),
        "use a smaller batch_size with a larger grad_accum_steps");
  CountingDevice device;  // outlives the model, whose memory goes back to it
  GPT model(config.model, vocab_size);
  MemoryPlan plan;
  plan.parameters = model.parameter_count();
  plan.decayed = model.decayed_count(decay_rule(config));
  plan.tokens_per_step = t.batch_size * t.grad_accum_steps * config.model.block_size;
  plan.flops_per_step = model.flops_per_token() * static_cast<double>(plan.tokens_per_step);
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
  // A host batch of full size would itself be a large thing: memory is linear in the windows, so that two
  // small batches tell what a large one takes.
  constexpr std::int64_t counted_tokens = std::int64_t{1} << 18;
  const std::int64_t few = std::max<std::int64_t>(1, counted_tokens / config.model.block_size);
  if (t.batch_size <= 2 * few) {
    count_step(config, model, device, t.batch_size, plan);
    return plan;
  }
  MemoryPlan twice = plan;
  count_step(config, model, device, few, plan);
  {
    CountingDevice other;
    GPT again(config.model, vocab_size);
    again.materialise(other, true, decay_rule(config));
    count_step(config, again, other, 2 * few, twice);
  }
  const double per_window =
      static_cast<double>(twice.activation_bytes - plan.activation_bytes) / static_cast<double>(few);
  plan.activation_bytes += static_cast<std::uint64_t>(per_window * static_cast<double>(t.batch_size - few));
  return plan;
}
void require_memory(const MemoryPlan& plan, const DeviceCaps& caps) {
  if (plan.total_bytes() <= caps.memory_bytes) {
    if (plan.unplaceable) throw *plan.unplaceable;
    return;
  }
  throw world_error(
      cat("this run needs ", bytes_text(plan.total_bytes()), " of memory (parameters ",
          bytes_text(plan.parameter_bytes), ", gradients ", bytes_text(plan.gradient_bytes), ", moments ",
          bytes_text(plan.moment_bytes), ", activations ", bytes_text(plan.activation_bytes),
          "), but there is ", bytes_text(caps.memory_bytes)),
      "set train.recompute, make train.batch_size smaller with a larger train.grad_accum_steps, or make "
      "model.n_embd, n_layer, block_size or the vocabulary smaller");
}

}  // namespace llmtool
