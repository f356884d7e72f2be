// Bench: training steps and generation of fixed models; see bench.h.
#include <chrono>

#include "base/cat.h"
#include "checkpoint/train_config.h"
#include "cli/bench.h"
#include "generate/generator.h"
#include "train/optimizer_options.h"
#include "train/trainer.h"

namespace llmtool {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string size_of(const GPT& model) {
  return cat(model.config().n_layer, " layers, ", model.config().n_embd, " wide");
}

}  // namespace

void bench_train(const Bench& bench) {
  const bool slow = bench.limits.slow() && bench.cpu != nullptr;
  const std::uint64_t warm = 3, steps = slow ? 7 : 43;
  const TrainConfig config =
      load_train_config("", {slow ? "model.preset=tiny" : "model.preset=char-cpu", cat("train.steps=", steps),
                             "train.warmup_steps=0", "train.eval_every=0"});
  const PreparedData data = prepare_data(config);
  GPT model(config.model, data.tokenizer->vocab_size());
  model.materialise(bench.device, true, decay_rule(config));
  model.initialise(config.train.seed);
  Clock::time_point start;
  TrainerEvents events;
  events.log = [](const LogLine&) {};
  events.save = [](const TrainerState&, bool) {};
  events.progress = [&](std::uint64_t step, double, double) {
    if (step != warm) return;
    bench.device.synchronise();
    start = Clock::now();
  };
  Trainer trainer(config, model, data, events);
  trainer.run({});
  bench.device.synchronise();
  const double tokens =
      static_cast<double>((steps - warm) * static_cast<std::uint64_t>(config.train.batch_size) *
                          static_cast<std::uint64_t>(config.model.block_size));
  const double speed = tokens / since(start);
  bench.report({"train",
                cat(size_of(model), ", batch ", config.train.batch_size, " x ", config.model.block_size),
                1e-9 * speed * model.flops_per_token(),
                "GFLOP/s",
                bench.limits.gflops,
                bench.limits.of_flops,
                cat(fixed(speed, 0), " tokens/s"),
                {{"tokens_per_second", speed}, {"parameters", model.parameter_count()}}});
}

void bench_generate(const Bench& bench) {
  const bool slow = bench.limits.slow() && bench.cpu != nullptr;
  std::vector<std::string> sets = {"model.block_size=128"};
  if (!slow) {
    for (const char* set : {"model.n_layer=8", "model.n_head=8", "model.n_embd=512"}) sets.emplace_back(set);
  }
  const TrainConfig config = load_train_config("", sets);
  const PreparedData data = prepare_data(config);
  GPT model(config.model, data.tokenizer->vocab_size());
  model.materialise(bench.device, false, decay_rule(config));
  model.initialise(config.train.seed);
  model.eval();
  // The difference of a long and a short text: the prompt and what happens once fall out.
  const auto seconds_for = [&](std::int64_t tokens) {
    GenerateOptions options;
    options.sampling.temperature = 0;
    options.max_new_tokens = tokens;
    const auto start = Clock::now();
    generate(model, *data.tokenizer, "The fox", options);
    return since(start);
  };
  const std::int64_t few = 4, many = slow ? 12 : 68;
  seconds_for(few);
  const double speed = static_cast<double>(many - few) / (seconds_for(many) - seconds_for(few));
  const double bytes = static_cast<double>(model.parameter_count()) * sizeof(float);
  bench.report({"generate",
                cat(size_of(model), ", ", fixed(bytes * 1e-6, 1), " MB of weights"),
                1e-9 * speed * bytes,
                "GB/s",
                bench.limits.gbytes,
                bench.limits.of_bytes,
                cat(fixed(speed, 1), " tokens/s"),
                {{"tokens_per_second", speed}, {"parameters", model.parameter_count()}}});
}

}  // namespace llmtool
