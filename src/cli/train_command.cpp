// `llmtool train`: flags to a request, and the printing of what a run tells. Not here: the run (train/run.h).
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/number_flag.h"
#include "cli/output.h"
#include "cli/profile.h"
#include "formats/json.h"
#include "train/run.h"

namespace llmtool {

namespace {

struct TrainFlags {
  CommonFlags common;
  std::string config;
  std::vector<std::string> sets, data;
  std::string out = "runs/default";
  std::vector<std::string> resume;  // empty, or the one checkpoint that was named
  std::string init_from;
  bool overwrite = false, dry_run = false, list_keys = false, profile = false;
  std::optional<std::uint64_t> stop_after;
};

Json plan_json(const TrainPlan& plan, const Device& device, const DeviceFit& fit) {
  const TrainConfig& c = plan.request.config;
  const MemoryPlan& m = fit.memory;
  const auto train = plan.data.dataset.train().size();
  Json json;
  json["event"] = "plan";
  json["parameters"] = m.parameters;
  json["parameters_decayed"] = m.decayed;
  json["parameters_not_decayed"] = m.parameters - m.decayed;
  json["vocab_size"] = plan.data.tokenizer->vocab_size();
  json["memory_bytes"] = {{"parameters", m.parameter_bytes},
                          {"gradients", m.gradient_bytes},
                          {"moments", m.moment_bytes},
                          {"activations", m.activation_bytes},
                          {"total", m.total_bytes()}};
  if (m.unplaceable) json["memory_bytes"]["activations"] = nullptr;
  json["device"] = {
      {"name", device.name()}, {"memory_bytes", device.caps().memory_bytes}, {"fits", !fit.why_not}};
  if (fit.why_not) json["device"]["why_not"] = fit.why_not->what();
  json["tokens_per_step"] = m.tokens_per_step;
  json["flops_per_step"] = m.flops_per_step;
  json["launches_per_step"] = m.launches_per_step;
  json["train_tokens"] = train;
  json["val_tokens"] = plan.data.dataset.val().size();
  json["passes_over_the_data"] = static_cast<double>(m.tokens_per_step) * static_cast<double>(c.train.steps) /
                                 static_cast<double>(train);
  return json;
}

std::string plan_text(const TrainPlan& plan, const Device& device, const DeviceFit& fit) {
  const Json json = plan_json(plan, device, fit);
  const MemoryPlan& m = fit.memory;
  return cat("parameters   ", m.parameters, " (", m.decayed, " decayed, ", m.parameters - m.decayed,
             " not)\n", "memory       ", bytes_text(m.total_bytes()), ": ", memory_parts_text(m), "\n",
             "device       ", device.name(), ", ", bytes_text(device.caps().memory_bytes),
             " available: ", fit.why_not ? "the run does NOT fit" : "the run fits", "\n", "per step     ",
             m.tokens_per_step, " tokens, ", fixed(m.flops_per_step / 1e9, 3), " GFLOP, ",
             m.launches_per_step, " launches per micro-batch\n", "data         ",
             plan.data.dataset.train().size(), " training tokens, ", plan.data.dataset.val().size(),
             " held out; ", plan.request.config.train.steps, " steps are ",
             fixed(json["passes_over_the_data"].get<double>(), 2), " passes\n");
}

/// What a dry run prints. The device is opened for its memory alone.
void print_plan(const TrainPlan& plan, const CommonFlags& flags) {
  const std::unique_ptr<Device> device = open_device(plan.request.config.device, flags.threads);
  const DeviceFit fit = fit_device(plan.request.config, plan.data.tokenizer->vocab_size(), *device);
  if (flags.json)
    print_line(to_json_line(plan_json(plan, *device, fit)));
  else
    print(plan_text(plan, *device, fit));
}

/// Prints a run as it goes: text lines, or one JSON object per line.
class Printer : public TrainObserver {
 public:
  Printer(bool json, std::uint64_t steps) : json_(json), steps_(steps), bar_("training", steps) {}

  void started(const TrainPlan& plan, std::uint64_t step) override {
    started_ = true;
    const TrainConfig& c = plan.request.config;
    const auto& data = plan.data;
    const std::int64_t vocab = data.tokenizer->vocab_size();
    const auto train = data.dataset.train().size(), val = data.dataset.val().size();
    const double expected = std::log(static_cast<double>(vocab));
    if (json_) {
      Json json = {{"event", "start"},
                   {"tokenizer", std::string(data.tokenizer->type())},
                   {"vocab_size", vocab},
                   {"parameters", plan.size.parameters},
                   {"train_tokens", train},
                   {"val_tokens", val},
                   {"batch_size", c.train.batch_size},
                   {"grad_accum_steps", c.train.grad_accum_steps},
                   {"block_size", c.model.block_size},
                   {"expected_first_loss", expected},
                   {"step", step}};
      print_line(to_json_line(json));
    } else {
      std::string batch = cat(c.train.batch_size);
      if (c.train.grad_accum_steps > 1) batch += cat("x", c.train.grad_accum_steps);
      print_line(cat("training: ", data.tokenizer->type(), " (vocab ", vocab, ") | ", plan.size.parameters,
                     " parameters | ", train + val, " tokens (train ", train, " / val ", val, ") | batch ",
                     batch, " block ", c.model.block_size,
                     step > 0        ? cat(" | resumed after step ", step)
                     : plan.init_dir ? cat(" | starting from ", plan.init_dir->string())
                                     : cat(" | expected first loss ln ", vocab, " = ", fixed(expected, 2))));
    }
  }

  void logged(const LogLine& line) override {
    bar_.clear();
    if (!json_) return print_line(to_text(line));
    Json json = {{"event", "log"}};
    json.update(parse_json(to_json(line), "log line"));
    print_line(to_json_line(json));
  }

  void progressed(std::uint64_t step, double loss, double speed) override {
    bar_.update(step, cat("step ", step, "/", steps_, " | loss ", fixed(loss, 4), " | ", short_number(speed),
                          " tok/s"));
  }

  void saved(const Path& checkpoint) override { last_saved_ = checkpoint; }

  void finished(TrainEnd end, const TrainerState& state,
                const std::optional<Evaluation>& evaluation) override {
    bar_.clear();
    if (end == TrainEnd::early)
      note(cat("stopped early: no better val_loss for ", state.evaluations_without_improvement,
               " evaluations; best ", fixed(state.best_val_loss.value_or(0), 4), " at step ",
               state.best_step));
    if (end == TrainEnd::stopped)
      note(cat("stopped after step ", state.step, " of ", steps_, "; go on with --resume"));
    if (state.skipped_steps > 0)
      warn(cat(state.skipped_steps, " steps had no finite gradient and were skipped"));
    if (!json_) {
      if (evaluation) print_line(final_text(*evaluation));
      return;
    }
    Json json = {{"event", "final"},
                 {"end", end == TrainEnd::early     ? "early"
                         : end == TrainEnd::stopped ? "stopped"
                                                    : "finished"},
                 {"step", state.step},
                 {"skipped_steps", state.skipped_steps}};
    if (!last_saved_.empty()) json["checkpoint"] = last_saved_.string();
    if (evaluation) {
      json["val_loss"] = evaluation->loss;
      json["perplexity"] = evaluation->perplexity();
      json["bits_per_byte"] = evaluation->bits_per_byte();
      json["val_tokens"] = evaluation->tokens;
    }
    print_line(to_json_line(json));
  }

  void sampled(const std::string& text) override {
    if (json_)
      print_line(to_json_line(Json{{"event", "sample"}, {"text", text}}));
    else
      print(cat("\n", text, "\n"));
  }

  void counted(const StepCounters& c) override {
    if (!json_) return;
    print_line(to_json_line(Json{{"event", "counters"},
                                 {"steps", c.steps},
                                 {"submits_per_step", c.max_submits},
                                 {"max_waits_per_step", c.max_waits},
                                 {"waited_for_own_step", c.waited_for_own_ticket},
                                 {"bytes_fetched_per_step", c.max_bytes_fetched},
                                 {"step_stats_bytes", sizeof(StepStats)},
                                 {"new_blocks_after_first", c.new_blocks_after_first}}));
  }

  const Path& last_saved() const noexcept { return last_saved_; }
  bool has_started() const noexcept { return started_; }

 private:
  bool json_;
  std::uint64_t steps_;
  Progress bar_;
  Path last_saved_;
  bool started_ = false;
};

/// What a run met after it began (a lost device, no memory, a full disk), with the way to go on from it.
Error with_resume(const Error& error, const TrainPlan& plan, const Printer& printer) {
  if (error.kind() != ErrorKind::world || !printer.has_started()) return error;
  Path last = printer.last_saved();
  if (last.empty() && plan.checkpoint) last = *plan.checkpoint;
  const std::string out = printable(plan.request.out.native());
  const std::string go_on = last.empty() ? cat("nothing was saved yet: start over with --overwrite --out ",
                                               out, ", and set train.save_every")
                                         : cat("the last checkpoint is ", printable(last.native()),
                                               ": go on with llmtool train --resume --out ", out);
  return Error(error.kind(), error.what(), cat(error.hint(), error.hint().empty() ? "" : "; ", go_on));
}

TrainRequest make_request(const TrainFlags& flags, const CLI::App& command) {
  TrainRequest request;
  request.out = flags.out;
  request.resume = command.count("--resume") > 0;
  request.overwrite = flags.overwrite;
  request.stop_after = flags.stop_after;
  request.threads = flags.common.thread_count();
  // A bare --resume counts as one empty word.
  if (!flags.resume.empty() && !flags.resume.front().empty()) request.resume_from = flags.resume.front();
  if (!flags.init_from.empty()) request.init_from = flags.init_from;
  if (request.resume && request.overwrite) throw request_error("--resume and --overwrite exclude each other");
  if (request.resume && request.init_from) throw request_error("--resume and --init-from exclude each other");

  std::string config = flags.config;
  // A resume goes on with the run's own configuration unless another is named.
  if (config.empty() && request.resume) {
    const Path own = request.out / "config.json";
    if (!std::filesystem::exists(own))
      throw world_error(cat("--resume: ", request.out.string(), " holds no run (no config.json)"),
                        "name the run's folder with --out");
    config = own.string();
  }
  request.config = load_train_config(config, flags.sets);
  if (!flags.data.empty()) request.config.data.paths = flags.data;
  if (flags.common.seed) request.config.train.seed = *flags.common.seed;
  if (!flags.common.device.empty()) request.config.device = flags.common.device;
  check_device_name(request.config.device);
  return request;
}

/// After the run: nothing of it is timed any more, and measuring the limits is not part of it.
void print_profile(Device& device, bool json) {
  device.synchronise();  // what was launched after the last wait
  device.set_profiling(false);
  const KernelTimes times = device.kernel_times();
  const DeviceLimits limits = measure_limits(device);
  if (json)
    print_line(to_json_line(profile_json(times, limits)));
  else
    print("\n" + profile_text(times, limits));
}

void run_train(const TrainFlags& flags, const CLI::App& command) {
  flags.common.apply();
  if (flags.list_keys) return flags.common.json ? print_line(config_keys_json()) : print(config_help());
  const TrainPlan plan = plan_training(make_request(flags, command), flags.dry_run);
  if (flags.dry_run) return print_plan(plan, flags.common);
  Printer printer(flags.common.json, static_cast<std::uint64_t>(plan.request.config.train.steps));
  try {
    const std::unique_ptr<Device> device = open_device(plan.request.config.device, flags.common.threads);
    device->set_profiling(flags.profile);
    run_training(plan, *device, printer);
    if (flags.profile) print_profile(*device, flags.common.json);
  } catch (const Interrupted& stop) {
    discard_folders(plan);
    if (printer.last_saved().empty()) throw;
    throw Interrupted(cat(stop.what(), "; saved ", printer.last_saved().string(), ", go on with --resume"));
  } catch (const Error& error) {
    discard_folders(plan);
    throw with_resume(error, plan, printer);
  } catch (...) {
    discard_folders(plan);
    throw;
  }
  if (!printer.last_saved().empty()) note(cat("saved ", printer.last_saved().string()));
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = app.add_subcommand("train", "train a GPT on text, with its tokenizer");
  command
      ->add_option("--config", flags->config,
                   "JSON configuration (default: preset tiny on the built-in corpus)")
      ->type_name("FILE");
  command->add_option("--set", flags->sets, "override one configuration key, as in train.steps=200")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  command
      ->add_option("--data", flags->data,
                   "text files or folders, or a folder of token shards (tokenize pack); replaces data.paths")
      ->type_name("FILE");
  command->add_option("--out", flags->out, "the run's folder (default runs/default)")->type_name("DIR");
  command->add_option("--resume", flags->resume, "go on from the latest good checkpoint, or from CKPT")
      ->type_name("[CKPT]")
      ->expected(0, 1);
  command->add_option("--init-from", flags->init_from, "start from the weights of a model directory")
      ->type_name("MODEL");
  command->add_flag("--overwrite", flags->overwrite, "replace the run that is in the folder");
  add_unsigned(*command, "--stop-after", "N", flags->stop_after, "end after step N with a checkpoint", 1);
  command->add_flag("--dry-run", flags->dry_run, "print parameters, memory, arithmetic and passes, and exit");
  command->add_flag("--profile", flags->profile,
                    "after the run, print the time of every kernel beside the device's limits (slower)");
  command->add_flag("--config-keys", flags->list_keys,
                    "print every configuration key with type, default and range, and exit");
  flags->common.add_compute(*command);
  flags->common.add_seed(*command);
  flags->common.add_output(*command);
  command->footer(
      [] { return "Configuration keys, for --set KEY=VALUE and the JSON of --config:\n" + config_help(); });
  command->callback([flags, command] { run_train(*flags, *command); });
}

}  // namespace llmtool
