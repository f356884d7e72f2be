// The loop: batches, rate, steps, evaluations, log lines, when to save and when to stop. Knows no files: what
// is to be kept goes through TrainerEvents. Not here: the run folder (run.h), one step (training_step.h).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "checkpoint/checkpoint.h"
#include "checkpoint/train_config.h"
#include "model/gpt.h"
#include "train/evaluate.h"
#include "train/metrics.h"
#include "train/prepared_data.h"
#include "train/training_step.h"

namespace llmtool {

struct TrainerEvents {
  std::function<void(const LogLine&)> log;
  /// A checkpoint is due; `best`: the evaluation just made improved on all before.
  std::function<void(const TrainerState&, bool best)> save;
  /// After every step: steps done, the latest known loss, tokens per second.
  std::function<void(std::uint64_t step, double loss, double tokens_per_second)> progress;
};

enum class TrainEnd { finished, stopped, early };  ///< All steps done; --stop-after; patience ran out.

class Trainer {
 public:
  /// The model is materialised, trainable, and holds the weights to start from; everything referred to
  /// outlives the trainer.
  Trainer(const TrainConfig& config, GPT& model, const PreparedData& data, TrainerEvents events);

  /// Goes on from `state` (a fresh one, or a checkpoint's).
  TrainEnd run(TrainerState state, std::optional<std::uint64_t> stop_after = {});

  const TrainerState& state() const noexcept { return state_; }
  const StepCounters& counters() const noexcept { return step_.counters(); }
  /// The loss over the whole held-out part; nullopt where there is none.
  std::optional<Evaluation> evaluate_all();

 private:
  void note_stats(std::uint64_t step, const StepStats& stats);
  void log_and_evaluate();
  void save(bool best);

  const TrainConfig& config_;
  GPT& model_;
  const PreparedData& data_;
  TrainerEvents events_;
  TrainingStep step_;
  Evaluator evaluator_;
  EvalWindows val_windows_;
  TrainerState state_;
  StepStats last_stats_{};
  std::uint64_t saved_at_ = 0;
  double timed_seconds_ = 0;  ///< Of steps since the last log line, evaluations and saving left out.
  std::uint64_t timed_steps_ = 0;
};

}  // namespace llmtool
