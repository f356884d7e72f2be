// `llmtool train` as a whole: what is asked for, checked and read before any device is opened, then the run
// with its folder: configuration, token ids, metrics, checkpoints, plot, report, sample. Not here: flags and
// printing (cli), the loop (trainer.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/train_config.h"
#include "train/memory_plan.h"
#include "train/metrics.h"
#include "train/prepared_data.h"
#include "train/trainer.h"

namespace llmtool {

struct TrainRequest {
  TrainConfig config;
  Path out = "runs/default";
  bool resume = false;
  std::optional<Path> resume_from;  ///< A checkpoint; otherwise the latest good one of `out`.
  std::optional<Path> init_from;    ///< Any model directory.
  bool overwrite = false;
  int threads = 1;  ///< For encoding texts.
  std::optional<std::uint64_t> stop_after;
};

/// Everything known before the device is opened.
struct TrainPlan {
  TrainRequest request;  ///< With the tokenizer's type resolved, and the model section of what is fine-tuned.
  PreparedData data;
  std::optional<Path> checkpoint;  ///< What is resumed.
  std::optional<Path> init_dir;    ///< What is fine-tuned.
  RunSize size;
  std::vector<Path> created;  ///< Folders that plan_training() made, outermost first.
  DirectoryLock lock;         ///< On the run's folder, against a second training in it.
};

/// Configuration, data and output folder, checked; nothing is written but the folder itself (not even that
/// with `dry_run`). A folder it made goes again if nothing comes to lie in it: see discard_folders().
TrainPlan plan_training(TrainRequest request, bool dry_run = false);

/// What a run tells while it goes.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void started(const TrainPlan& plan, std::uint64_t step) = 0;
  virtual void logged(const LogLine& line) = 0;
  virtual void progressed(std::uint64_t step, double loss, double tokens_per_second) = 0;
  virtual void saved(const Path& checkpoint) = 0;
  virtual void finished(TrainEnd end, const TrainerState& state,
                        const std::optional<Evaluation>& evaluation) = 0;
  virtual void sampled(const std::string& text) = 0;
  virtual void counted(const StepCounters& counters) = 0;
};

/// Removes the folders that `plan` made, as far as they are empty: for a run that cannot begin after all.
void discard_folders(const TrainPlan& plan) noexcept;

void run_training(const TrainPlan& plan, Device& device, TrainObserver& observer);

}  // namespace llmtool
