// One training step as one submission: stage the batch and StepParams, zero the gradients, forward and
// backward of every micro-batch, gradient norm, clip, update, fetch of StepStats. Statistics come back two
// steps later, so that host and device overlap; between the first record and the submit nothing waits. Not
// here: which batches, which rate, how often.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "model/gpt.h"
#include "optim/optimizer.h"
#include "text/batch.h"

namespace llmtool {

struct StepCounters {
  std::uint64_t steps = 0;
  std::uint64_t max_submits = 0;  ///< Most submissions of one step.
  std::uint64_t max_waits = 0;    ///< Most waits of one step.
  bool waited_for_own_ticket =
      false;  ///< A wait inside a step was for a ticket later than the step before the last.
  std::uint64_t max_bytes_fetched = 0;  ///< Most bytes fetched by one step.
  std::uint64_t new_blocks_after_first = 0;
};

class TrainingStep {
 public:
  /// Called for every step, in order, once its statistics are known.
  using Report = std::function<void(std::uint64_t step, const StepStats& stats)>;

  /// `recompute`: see ForwardContext.
  TrainingStep(GPT& model, const OptimizerOptions& options, std::int64_t batch_size,
               std::int64_t micro_batches, bool recompute = false);

  /// Records and submits step i (from 0) on as many micro-batches as were announced. Reports earlier steps.
  void run(std::uint64_t i, std::span<const Batch> batches, double learning_rate, double grad_clip,
           std::uint64_t seed, const Report& report);
  /// Waits for all that is outstanding and reports it.
  void drain(const Report& report);
  const StepCounters& counters() const noexcept { return counters_; }

 private:
  struct Outstanding {
    std::uint64_t step;
    Ticket ticket;
    FetchedPtr stats;
  };
  void collect(const Report& report);

  GPT& model_;
  Device& device_;
  OptimizerOptions options_;
  std::int64_t batch_size_, micro_batches_;
  bool recompute_;
  StepState state_;
  Optimizer optimizer_;
  ops::Index ids_;
  ops::Targets targets_;
  std::deque<Outstanding> outstanding_;
  StepCounters counters_;
};

}  // namespace llmtool
