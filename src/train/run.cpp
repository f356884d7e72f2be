// A run with its folder; see run.h.
#include "train/run.h"

#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "checkpoint/model_dir.h"
#include "checkpoint/tokenizer_file.h"
#include "checkpoint/trainer_state.h"
#include "generate/generator.h"
#include "train/line_plot.h"
#include "train/optimizer_options.h"
#include "train/report.h"

namespace llmtool {

namespace {

constexpr const char* tokens_file = "tokens.safetensors";

/// Whether shapes and arithmetic are the same; dropout may differ, and the preset's name tells nothing.
bool same_model(ModelConfig a, ModelConfig b) {
  a.dropout = b.dropout = 0;
  a.preset = b.preset;
  TrainConfig left, right;
  left.model = a;
  right.model = b;
  return resolved_json(left) == resolved_json(right);
}

/// The model sections must agree, since shapes follow from them.
void require_same_model(const ModelConfig& asked, const ModelConfig& kept, const Path& where) {
  if (!same_model(asked, kept))
    throw request_error(cat("the configuration's model section differs from that of ", where.string()),
                        "leave out --config and the model keys to go on with the model as it is");
}

/// What is fine-tuned brings its own model and tokenizer: keys that ask for others are not passed over in
/// silence.
void require_no_other_model(const TrainConfig& asked, const ModelFiles& files) {
  if (!same_model(asked.model, ModelConfig())) require_same_model(asked.model, files.config.model, files.dir);
}
void require_same_tokenizer(const TokenizerConfig& asked, const ModelFiles& files) {
  if (asked.type == "auto" || asked.type == files.config.tokenizer.type ||
      asked.type == files.tokenizer->type())
    return;
  throw request_error(cat("tokenizer.type ", asked.type, " is not that of ", printable(files.dir.native()),
                          ", ", files.tokenizer->type(), ", which goes with its weights"),
                      "leave tokenizer.type out");
}

Path checkpoint_to_resume(const TrainRequest& request, const RunDirectory& run) {
  if (request.resume_from) {
    const Path &named = *request.resume_from, inside = run.root() / "checkpoints" / named;
    std::error_code ignored;
    if (std::filesystem::exists(named, ignored)) return resolve_model_dir(named);
    if (std::filesystem::exists(inside, ignored)) return resolve_model_dir(inside);
    throw world_error(cat("--resume: there is no checkpoint at '", printable(named.native()), "'"),
                      cat("name a folder in ", printable((run.root() / "checkpoints").native()),
                          ", or leave the name out for the latest good one"));
  }
  if (const std::optional<Path> found = run.latest_good()) return *found;
  throw world_error(cat("--resume: ", run.root().string(), " holds no checkpoint to go on from"),
                    "start anew with --overwrite, or name a checkpoint: --resume CKPT");
}

/// A resume must have something to do, or at least nothing to undo.
void require_ahead(const TrainRequest& request, const Path& checkpoint) {
  TensorChecksums ignored;
  const std::uint64_t step = read_trainer_state(checkpoint, ignored).step;
  const auto require = [&](const char* what, std::uint64_t asked) {
    if (asked >= step) return;
    throw request_error(cat(what, " ", asked, " is before step ", step, ", where ",
                            printable(checkpoint.native()), " stands"),
                        "name a later step, or an earlier checkpoint with --resume CKPT");
  };
  require("train.steps", static_cast<std::uint64_t>(request.config.train.steps));
  if (request.stop_after) require("--stop-after", *request.stop_after);
}

/// The tokens of the folder where they are those of this configuration's data, else the texts again.
PreparedData resumed_data(const TrainRequest& request, const RunDirectory& run, const ModelFiles& files) {
  const Path tokens = run.root() / tokens_file;
  const DataConfig &asked = request.config.data, &kept = files.config.data;
  const bool same = asked.paths == kept.paths && asked.val_paths == kept.val_paths &&
                    asked.val_fraction == kept.val_fraction;
  std::shared_ptr<Tokenizer> tokenizer = load_tokenizer(files.dir);
  if (same && std::filesystem::exists(tokens))
    return load_tokens(tokens, tokenizer, request.config.model.block_size);
  return prepare_data(request.config, tokenizer, request.threads);
}

/// An explicit request to start over: what an earlier run left is removed, and only what such a run writes.
void remove_run(const Path& root) {
  for (const char* name : {"checkpoints", "config.json", "metrics.jsonl", "loss.svg", "report.html", "latest",
                           "best", tokens_file})
    std::filesystem::remove_all(root / name);
}

/// `path` and its parents, as far as they are not there yet, outermost first.
std::vector<Path> missing_folders(Path path) {
  std::vector<Path> missing;
  std::error_code ignored;
  for (; !path.empty() && !std::filesystem::exists(path, ignored); path = path.parent_path())
    missing.insert(missing.begin(), path);
  return missing;
}

class Run {
 public:
  Run(const TrainPlan& plan, Device& device, TrainObserver& observer)
      : plan_(plan),
        config_(plan.request.config),
        observer_(observer),
        run_(plan.request.out),
        model_(config_.model, plan.data.tokenizer->vocab_size()),
        device_(device) {}

  void operator()() {
    const TrainerState state = start();
    MetricsFile metrics(run_.root() / "metrics.jsonl", state.step);
    TrainerEvents events;
    events.log = [&](const LogLine& line) {
      metrics.append(line);
      observer_.logged(line);
    };
    events.save = [&](const TrainerState& now, bool best) {
      run_.save(model_, *plan_.data.tokenizer, config_, now, best);
      observer_.saved(run_.checkpoint_path(now.step));  // also where the pictures cannot be written
      write_file_atomic(run_.root() / "loss.svg", loss_svg(metrics.lines()));
      write_report(metrics, {plan_, device_, now, {}, {}});
    };
    events.progress = [&](std::uint64_t step, double loss, double speed) {
      observer_.progressed(step, loss, speed);
    };
    observer_.started(plan_, state.step);
    if (!trainer_) trainer_.emplace(config_, model_, plan_.data, events);
    const TrainEnd end = trainer_->run(state, plan_.request.stop_after);
    const bool stopped = end == TrainEnd::stopped;
    RunReport page{plan_, device_, trainer_->state(), {}, {}};
    if (!stopped) page.evaluation = trainer_->evaluate_all();
    observer_.finished(end, page.state, page.evaluation);
    if (!stopped) {
      page.sample = sample();
      observer_.sampled(page.sample);
    }
    write_report(metrics, page);
    observer_.counted(trainer_->counters());
  }

 private:
  /// Memory, weights, and what the folder says of the run.
  TrainerState start() {
    const DeviceFit fit = fit_device(config_, model_.vocab_size(), device_);
    if (fit.why_not) throw *fit.why_not;
    model_.materialise(device_, true, decay_rule(config_));
    if (plan_.checkpoint) {
      // The moments are read into the slabs, where they must be before they are asked for.
      const OptimizerOptions options = optimizer_options(config_.train);
      model_.slabs().make_moments(options.kind == OptimizerKind::adamw || options.beta1 > 0,
                                  options.kind == OptimizerKind::adamw);
      TrainerState state = load_checkpoint(*plan_.checkpoint, model_);
      if (state.data_fingerprint != plan_.data.fingerprint)
        warn("the training data differ from those of the checkpoint; the run goes on with the new ones");
      state.data_fingerprint = plan_.data.fingerprint;
      write_file_atomic(run_.root() / "config.json", resolved_json(config_));
      return state;
    }
    // What is fine-tuned may be the very run that is replaced.
    if (plan_.init_dir)
      load_weights(*plan_.init_dir, model_);
    else
      model_.initialise(config_.train.seed);
    if (plan_.request.overwrite) remove_run(run_.root());
    if (!plan_.data.packed) save_tokens(run_.root() / tokens_file, plan_.data);
    write_file_atomic(run_.root() / "config.json", resolved_json(config_));
    TrainerState state;
    state.tokenizer_fingerprint = plan_.data.tokenizer->fingerprint();
    state.data_fingerprint = plan_.data.fingerprint;
    return state;
  }

  void write_report(const MetricsFile& metrics, const RunReport& page) {
    write_file_atomic(run_.root() / "report.html", report_html(page, metrics.lines()));
  }

  std::string sample() {
    GenerateOptions options;
    options.seed = config_.train.seed;
    const std::string prompt = sample_prompt(config_, plan_.data);
    model_.eval();
    return prompt + generate(model_, *plan_.data.tokenizer, prompt, options).text;
  }

  const TrainPlan& plan_;
  const TrainConfig& config_;
  TrainObserver& observer_;
  RunDirectory run_;
  GPT model_;
  Device& device_;
  std::optional<Trainer> trainer_;
};

}  // namespace

TrainPlan plan_training(TrainRequest request, bool dry_run) {
  check(request.config);
  const RunDirectory run(request.out);
  std::optional<Path> checkpoint, init_dir;
  std::optional<PreparedData> data;
  if (request.resume) {
    checkpoint = checkpoint_to_resume(request, run);
    const ModelFiles files = open_model(*checkpoint);
    require_ahead(request, *checkpoint);
    require_same_model(request.config.model, files.config.model, *checkpoint);
    require_same_tokenizer(request.config.tokenizer, files);
    data = resumed_data(request, run, files);
  } else {
    if (!dry_run && run.has_run() && !request.overwrite)
      throw world_error(
          cat(request.out.string(), " already holds a run"),
          "go on with it by --resume, start over by --overwrite, or name another folder with --out");
    if (request.init_from) {
      ModelFiles files = open_model(*request.init_from);
      init_dir = files.dir;
      require_no_other_model(request.config, files);
      require_same_tokenizer(request.config.tokenizer, files);
      files.config.model.dropout = request.config.model.dropout;
      request.config.model = files.config.model;
      data = prepare_data(request.config, std::move(files.tokenizer), request.threads);
    } else {
      data = prepare_data(request.config, nullptr, request.threads);
    }
  }
  if (request.config.tokenizer.type != "file") request.config.tokenizer.type = data->tokenizer->type();
  // A prompt that the vocabulary lacks is refused now, not when the run is done.
  if (request.config.train.sample_prompt) data->tokenizer->encode(*request.config.train.sample_prompt);
  const RunSize size = run_size(request.config, data->tokenizer->vocab_size());
  std::vector<Path> created;
  DirectoryLock lock;
  if (!dry_run) {
    created = missing_folders(run.root() / "checkpoints");
    lock = run.create();
  }
  return {std::move(request), std::move(*data), std::move(checkpoint), std::move(init_dir), size,
          std::move(created), std::move(lock)};
}

void discard_folders(const TrainPlan& plan) noexcept {
  std::error_code not_empty;
  for (auto folder = plan.created.rbegin(); folder != plan.created.rend(); ++folder)
    std::filesystem::remove(*folder, not_empty);
}

void run_training(const TrainPlan& plan, Device& device, TrainObserver& observer) {
  Run(plan, device, observer)();
}

}  // namespace llmtool
