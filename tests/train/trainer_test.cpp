// The loop in memory: evaluation against a plain average, memory against hand counts, the same bytes twice,
// and steps that are not finite.
#include "train/trainer.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "cpu/cpu_device.h"
#include "support/catch.h"
#include "tensor/autograd.h"
#include "train/memory_plan.h"
#include "train/optimizer_options.h"

using namespace llmtool;

namespace {

TrainConfig small_config(std::vector<std::string> sets = {}) {
  std::vector<std::string> all = {"model.n_layer=1",     "model.n_head=2",        "model.n_embd=16",
                                  "model.block_size=16", "train.batch_size=4",    "train.warmup_steps=4",
                                  "train.steps=12",      "data.val_fraction=0.2", "train.eval_every=5"};
  all.insert(all.end(), sets.begin(), sets.end());
  return load_train_config("", all);
}

/// A model on the CPU, with its data.
struct Fixture {
  explicit Fixture(const TrainConfig& c, int threads = 1)
      : config(c),
        data(prepare_data(config)),
        device(make_cpu_device(threads)),
        model(config.model, data.tokenizer->vocab_size()) {
    model.materialise(*device, true, decay_rule(config));
    model.initialise(config.train.seed);
  }
  std::vector<float> weights() {
    std::vector<float> all;
    for (const auto& [name, p] : model.named_parameters()) {
      const auto values = p->tensor.to_host();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  TrainConfig config;
  PreparedData data;
  std::unique_ptr<Device> device;
  GPT model;
};

}  // namespace

TEST_CASE("the evaluation is the plain mean over every token but the first") {
  Fixture f(small_config());
  const std::vector<std::int32_t> tokens = f.data.dataset.val().ids(0, f.data.dataset.val().size());
  Evaluator evaluate(f.model, *f.data.tokenizer);
  f.model.train();
  const Evaluation e = evaluate(EvalWindows(tokens, 16, 4));
  CHECK(f.model.training());
  CHECK(e.tokens == static_cast<std::int64_t>(tokens.size()) - 1);
  CHECK(e.bytes == static_cast<std::uint64_t>(e.tokens));

  // One window at a time, from the logits.
  const NoGrad no_grad;
  f.model.eval();
  double total = 0;
  for (std::size_t begin = 0; begin + 1 < tokens.size(); begin += 16) {
    const auto inputs =
        std::span(tokens).subspan(begin, std::min<std::size_t>(16, tokens.size() - 1 - begin));
    const ops::Index ids(*f.device, inputs, f.model.vocab_size());
    const auto logits = f.model.logits(f.model.forward(ids, 1)).to_host();
    const auto vocab = static_cast<std::size_t>(f.model.vocab_size());
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      double sum = 0;
      for (std::size_t v = 0; v < vocab; ++v) sum += std::exp(static_cast<double>(logits[t * vocab + v]));
      const auto target = static_cast<std::size_t>(tokens[begin + t + 1]);
      total += std::log(sum) - static_cast<double>(logits[t * vocab + target]);
    }
  }
  CHECK(e.loss == Approx(total / static_cast<double>(e.tokens)).epsilon(1e-5));
  CHECK(e.perplexity() == Approx(std::exp(e.loss)));
  CHECK(e.bits_per_byte() == Approx(e.loss / std::log(2.0)));
  CHECK(Evaluation{}.bits_per_byte() == 0);
}

TEST_CASE("what a run needs, against a count by hand") {
  const MemoryPlan plan = plan_memory(load_train_config("", {}), 35);
  CHECK(plan.parameters == 102336);
  CHECK(plan.decayed == 2 * 12 * 64 * 64 + 35 * 64);
  CHECK(plan.parameter_bytes == 4 * 102336);
  CHECK(plan.gradient_bytes == plan.parameter_bytes);
  CHECK(plan.moment_bytes == 2 * plan.parameter_bytes);
  CHECK(plan.tokens_per_step == 256);
  // 6 per weight of the products (biases and norms take none) and 6 n_layer n_embd (block + 1) of attention.
  CHECK(plan.flops_per_step == 256.0 * (6.0 * (2 * 12 * 64 * 64 + 35 * 64) + 6.0 * 2 * 64 * 33));
  CHECK(plan.activation_bytes > 256 * 64 * 4 * 10);
  CHECK(plan.activation_bytes < 8u << 20);
  const MemoryPlan sgd = plan_memory(load_train_config("", {"train.optimizer=sgd"}), 35);
  CHECK(sgd.moment_bytes == 0);
  // Beyond what is counted whole, memory grows with the windows.
  const MemoryPlan large = plan_memory(load_train_config("", {"train.batch_size=524288"}), 35);
  CHECK(static_cast<double>(large.activation_bytes) ==
        Approx(static_cast<double>(plan.activation_bytes) * 65536).epsilon(0.3));

  DeviceCaps caps;
  caps.memory_bytes = 1 << 20;
  CHECK_THROWS_WITH(require_memory(plan, caps), Catch::Contains("1.0 MiB") && Catch::Contains("4.0 MiB"));
  caps.memory_bytes = 8 << 20;
  CHECK_NOTHROW(require_memory(plan, caps));
  CHECK(bytes_text(3 << 19) == "1.5 MiB");
  CHECK_THROWS_AS(
      plan_memory(load_train_config("", {"train.batch_size=1048576", "model.block_size=1048576"}), 35),
      Error);
}

TEST_CASE("the loop: rates, lines, saves, and the same bytes again", "[threads]") {
  std::vector<LogLine> lines;
  std::vector<std::uint64_t> saves;
  std::vector<std::vector<float>> ends;
  for (const int threads : {1, 2}) {
    Fixture f(small_config({"train.save_every=4", "model.dropout=0.1"}), threads);
    lines.clear();
    saves.clear();
    TrainerEvents events;
    events.log = [&](const LogLine& line) { lines.push_back(line); };
    events.save = [&](const TrainerState& state, bool) { saves.push_back(state.step); };
    Trainer trainer(f.config, f.model, f.data, events);
    CHECK(trainer.run({}) == TrainEnd::finished);
    CHECK(trainer.counters().steps == 12);
    CHECK(trainer.counters().max_submits == 1);
    CHECK(trainer.counters().max_waits <= 1);
    CHECK_FALSE(trainer.counters().waited_for_own_ticket);
    CHECK(trainer.counters().max_bytes_fetched == sizeof(StepStats));
    CHECK(trainer.counters().new_blocks_after_first == 0);
    ends.push_back(f.weights());
  }
  CHECK((ends[0] == ends[1]));
  REQUIRE(lines.size() == 4);  // 1, 5, 10, 12
  CHECK(lines[0].lr == Approx(3e-3 / 4));
  CHECK(lines[1].lr == Approx(3e-3));  // i = 4: the top of the cosine
  CHECK(lines[3].lr == Approx(3e-4 + 0.5 * (3e-3 - 3e-4) * (1 + std::cos(M_PI * 7 / 8))));
  for (const LogLine& line : lines) CHECK(line.val_loss.has_value());
  CHECK(lines[3].train_loss < lines[0].train_loss);
  CHECK(saves.back() == 12);
  for (const std::uint64_t step : {4, 8}) CHECK(std::count(saves.begin(), saves.end(), step) == 1);
}

TEST_CASE("a stop is a stop") {
  Fixture f(small_config());
  Trainer trainer(f.config, f.model, f.data, {});
  CHECK(trainer.run({}, 3) == TrainEnd::stopped);
  CHECK(trainer.state().step == 3);
  Trainer rest(f.config, f.model, f.data, {});
  CHECK(rest.run(trainer.state()) == TrainEnd::finished);
}

TEST_CASE("steps that are not finite are skipped, counted, and in a row end the run") {
  Fixture f(small_config({"train.max_bad_steps=3", "data.val_fraction=0"}));
  const auto parameters = f.model.named_parameters();
  std::vector<float> bad(static_cast<std::size_t>(parameters[0].parameter->tensor.numel()),
                         std::numeric_limits<float>::infinity());
  parameters[0].parameter->tensor.assign(bad);
  const std::vector<float> other = parameters[1].parameter->tensor.to_host();
  Trainer trainer(f.config, f.model, f.data, {});
  CHECK_THROWS_WITH(trainer.run({}), Catch::Contains("diverged") && Catch::Contains("step 3"));
  CHECK(trainer.state().skipped_steps == 3);
  CHECK((parameters[1].parameter->tensor.to_host() == other));
}
