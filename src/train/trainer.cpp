// The training loop; see trainer.h.
#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/interrupt.h"
#include "text/batch_loader.h"
#include "text/sampler.h"
#include "train/optimizer_options.h"

namespace llmtool {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Trainer::Trainer(const TrainConfig& config, GPT& model, const PreparedData& data, TrainerEvents events)
    : config_(config),
      model_(model),
      data_(data),
      events_(std::move(events)),
      step_(model, optimizer_options(config.train), config.train.batch_size, config.train.grad_accum_steps,
            config.train.recompute),
      evaluator_(model, *data.tokenizer),
      val_windows_(data.dataset.val(), config.model.block_size, config.train.batch_size,
                   config.train.eval_batches) {}

TrainEnd Trainer::run(TrainerState state, std::optional<std::uint64_t> stop_after) {
  const TrainOptions& t = config_.train;
  state_ = state;
  saved_at_ = state.step;
  const auto steps = static_cast<std::uint64_t>(t.steps);
  const std::uint64_t end = stop_after ? std::min(*stop_after, steps) : steps;
  const WindowSampler sampler(data_.dataset.train(), config_.model.block_size, t.batch_size,
                              t.grad_accum_steps, sampling_of(config_.data.sampling), t.seed);
  const auto micros = static_cast<std::uint64_t>(t.grad_accum_steps);
  BatchLoader loader(
      [&](std::int64_t index) {
        return sampler.batch(index / t.grad_accum_steps, index % t.grad_accum_steps);
      },
      static_cast<std::int64_t>(state_.step * micros), static_cast<std::int64_t>(end * micros));
  const TrainingStep::Report report = [this](std::uint64_t step, const StepStats& stats) {
    note_stats(step, stats);
  };
  const double step_tokens =
      static_cast<double>(t.batch_size * t.grad_accum_steps * config_.model.block_size);
  model_.train();

  std::vector<Batch> batches(static_cast<std::size_t>(micros));
  for (std::uint64_t i = state_.step; i < end; ++i) {
    const double begin = now();
    for (Batch& batch : batches) batch = loader.next();
    const double rate =
        warmup_cosine(static_cast<std::int64_t>(i), t.warmup_steps, t.steps, t.max_lr, t.final_lr());
    step_.run(i, batches, rate, t.grad_clip, t.seed, report);
    state_.step = i + 1;
    const bool every = t.eval_every > 0 && (i + 1) % static_cast<std::uint64_t>(t.eval_every) == 0;
    const bool save_now = t.save_every > 0 && (i + 1) % static_cast<std::uint64_t>(t.save_every) == 0;
    const bool log_now = i == 0 || every || i + 1 == steps;
    const bool stopping = interrupted();
    if (log_now || save_now || stopping || i + 1 == end) step_.drain(report);
    timed_seconds_ += now() - begin;
    ++timed_steps_;
    if (events_.progress)
      events_.progress(i + 1, static_cast<double>(last_stats_.loss),
                       step_tokens * static_cast<double>(timed_steps_) / timed_seconds_);
    if (log_now) log_and_evaluate();
    if (save_now && saved_at_ != i + 1) save(false);
    if (stopping) {
      if (saved_at_ != i + 1) save(false);
      throw Interrupted(cat("stopped after step ", i + 1, " of ", steps));
    }
    if (t.early_stop_patience > 0 &&
        state_.evaluations_without_improvement >= static_cast<std::uint64_t>(t.early_stop_patience)) {
      if (saved_at_ != i + 1) save(false);
      return TrainEnd::early;
    }
  }
  if (saved_at_ != state_.step || state_.step == 0) save(false);
  return end < steps ? TrainEnd::stopped : TrainEnd::finished;
}

void Trainer::note_stats(std::uint64_t step, const StepStats& stats) {
  last_stats_ = stats;
  if (stats.non_finite == 0) {
    state_.bad_steps_in_a_row = 0;
    return;
  }
  ++state_.skipped_steps;
  if (++state_.bad_steps_in_a_row < static_cast<std::uint64_t>(config_.train.max_bad_steps)) return;
  throw world_error(
      cat("the run diverged: loss ", fixed(static_cast<double>(stats.loss), 4), " and grad_norm ",
          fixed(static_cast<double>(stats.grad_norm), 4), " at step ", step + 1, ", not finite for ",
          state_.bad_steps_in_a_row, state_.bad_steps_in_a_row == 1 ? " step" : " steps in a row"),
      "lower train.max_lr or raise train.warmup_steps");
}

void Trainer::log_and_evaluate() {
  const TrainOptions& t = config_.train;
  LogLine line;
  line.step = state_.step;
  line.lr = warmup_cosine(static_cast<std::int64_t>(state_.step) - 1, t.warmup_steps, t.steps, t.max_lr,
                          t.final_lr());
  line.train_loss = static_cast<double>(last_stats_.loss);
  line.grad_norm = static_cast<double>(last_stats_.grad_norm);
  line.tokens_per_second = static_cast<double>(t.batch_size * t.grad_accum_steps * config_.model.block_size) *
                           static_cast<double>(timed_steps_) / std::max(timed_seconds_, 1e-9);
  timed_seconds_ = 0;
  timed_steps_ = 0;
  bool best = false;
  if (val_windows_.counted() > 0) {
    line.val_loss = evaluator_(val_windows_, false).loss;
    best = std::isfinite(*line.val_loss) && (!state_.best_val_loss || *line.val_loss < *state_.best_val_loss);
    if (best) {
      state_.best_val_loss = line.val_loss;
      state_.best_step = state_.step;
      state_.evaluations_without_improvement = 0;
    } else {
      ++state_.evaluations_without_improvement;
    }
  }
  if (events_.log) events_.log(line);
  if (best) save(true);
}

void Trainer::save(bool best) {
  saved_at_ = state_.step;
  if (events_.save) events_.save(state_, best);
}

std::optional<Evaluation> Trainer::evaluate_all() {
  if (data_.dataset.val().size() < 2) return std::nullopt;
  return evaluator_(EvalWindows(data_.dataset.val(), config_.model.block_size, config_.train.batch_size));
}

}  // namespace llmtool
