// The loss over held-out windows.
#include "train/evaluate.h"

#include "base/error.h"
#include "base/interrupt.h"
#include "tensor/autograd.h"

namespace llmtool {

Evaluator::Evaluator(GPT& model, const Tokenizer& tokenizer)
    : model_(model), lengths_(token_lengths(tokenizer)) {}

Evaluation Evaluator::operator()(const EvalWindows& windows, bool interruptible) {
  // A GPU is kept busy by recording a few batches ahead; their losses are read when the queue of them is this
  // long.
  constexpr std::size_t in_flight = 4;
  struct Pending {
    FetchedPtr loss;
    Ticket ticket;
    std::int64_t counted;
  };
  const NoGrad no_grad;
  const bool was_training = model_.training();
  model_.eval();
  Device& device = model_.slabs().slabs().front().values.device();

  Evaluation result;
  double total = 0;
  std::vector<Pending> pending;
  const auto collect = [&] {
    for (const Pending& p : pending) {
      device.wait(p.ticket);
      total += static_cast<double>(p.loss->as<float>().front()) * static_cast<double>(p.counted);
      result.tokens += p.counted;
    }
    pending.clear();
  };
  for (std::int64_t i = 0; i < windows.batches(); ++i) {
    if (interruptible) throw_if_interrupted();
    const Batch batch = windows.batch(i);
    if (batch.counted == 0) continue;
    const auto n = static_cast<std::int64_t>(batch.inputs.size());
    if (ids_.size() != n) {
      ids_ = ops::Index(device, batch.inputs, model_.vocab_size());
      targets_ = ops::Targets(device, batch.targets, model_.vocab_size());
    } else {
      ids_.set(batch.inputs);
      targets_.set(batch.targets);
    }
    const Tensor loss = model_.loss(ids_, targets_, batch.batch);
    FetchedPtr fetched = device.fetch(loss.view());
    pending.push_back({std::move(fetched), device.submit(), batch.counted});
    for (const std::int32_t id : batch.targets)
      if (id >= 0) result.bytes += lengths_[static_cast<std::size_t>(id)];
    if (pending.size() >= in_flight) collect();
  }
  collect();
  model_.train(was_training);
  result.loss = result.tokens > 0 ? total / static_cast<double>(result.tokens) : 0;
  return result;
}

}  // namespace llmtool
