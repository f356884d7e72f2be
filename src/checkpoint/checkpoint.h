// Checkpoints of a run: a model directory with optimizer.safetensors and trainer_state.json, written beside
// its final name, flushed, then renamed. Not here: when they are written.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/directory_lock.h"
#include "base/files.h"
#include "checkpoint/train_config.h"
#include "model/gpt.h"
#include "text/tokenizer.h"

namespace llmtool {

/// Where a run stands after `step` attempted steps. Data position and schedule follow from `step`.
struct TrainerState {
  std::uint64_t step = 0;
  std::uint64_t skipped_steps = 0;
  std::uint64_t bad_steps_in_a_row = 0;
  std::optional<double> best_val_loss;
  std::uint64_t best_step = 0;
  std::uint64_t evaluations_without_improvement = 0;
  std::uint64_t tokenizer_fingerprint = 0;
  std::uint64_t data_fingerprint = 0;  ///< Of the token ids, so that a resume on other data is noticed.
};

class RunDirectory {
 public:
  explicit RunDirectory(Path root) : root_(std::move(root)) {}
  const Path& root() const noexcept { return root_; }
  bool has_run() const;  ///< A config.json or a checkpoint is there.
  /// Creates it, and finds out here whether it can be written. world_error while another process holds what
  /// this returns: two runs in one folder would take each other's checkpoints for leftovers.
  [[nodiscard]] DirectoryLock create() const;
  Path checkpoint_path(std::uint64_t step) const;  ///< checkpoints/step-00000600
  /// The newest checkpoint that loads whole (damaged ones are passed over with a warning); nullopt if none.
  std::optional<Path> latest_good() const;

  /// Writes checkpoints/step-N, then `latest`, and `best` if `is_best`; removes all but the newest `keep` and
  /// the best.
  void save(GPT& model, const Tokenizer& tokenizer, const TrainConfig& config, const TrainerState& state,
            bool is_best);

 private:
  Path root_;
};

/// Weights, moments and trainer state of a checkpoint into a materialised, trainable model whose optimizer
/// was made.
TrainerState load_checkpoint(const Path& checkpoint, GPT& model);

}  // namespace llmtool
