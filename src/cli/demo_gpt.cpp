// Demo: a GPT trained on the built-in corpus in memory, then text from it, with and without the key/value
// cache.
#include <cmath>

#include "base/cat.h"
#include "base/error.h"
#include "checkpoint/train_config.h"
#include "cli/demo.h"
#include "generate/generator.h"
#include "train/optimizer_options.h"
#include "train/trainer.h"

namespace llmtool {

namespace {

void show(const DemoOutput& out, GPT& model, const Tokenizer& tokenizer, std::string_view prompt,
          GenerateOptions options, bool cache, Json& texts) {
  options.kv_cache = cache;
  out.say(cat("-- '", prompt, "' ", cache ? "with" : "without", " the key/value cache --"));
  const Generated g = generate(model, tokenizer, prompt, options);
  out.say(cat(prompt, g.text));
  texts.push_back(cat(prompt, g.text));
}

}  // namespace

void demo_gpt(Device& device, const DemoOutput& out, std::uint64_t seed) {
  TrainConfig config = load_train_config("", {});
  config.train.seed = seed;
  const PreparedData data = prepare_data(config);
  const std::int64_t vocab = data.tokenizer->vocab_size();
  GPT model(config.model, vocab);
  model.materialise(device, true, decay_rule(config));
  model.initialise(seed);
  out.say(cat("== gpt: ", model.parameter_count(), " parameters, ", config.train.steps, " steps on ",
              data.dataset.train().size(), " characters (vocab ", vocab, ") | expected first loss ln ", vocab,
              " = ", fixed(std::log(static_cast<double>(vocab)), 2), " =="));
  Json log = Json::array();
  TrainerEvents events;
  events.log = [&](const LogLine& line) {
    out.say(to_text(line));
    log.push_back({{"step", line.step},
                   {"lr", line.lr},
                   {"train_loss", line.train_loss},
                   {"grad_norm", line.grad_norm}});
  };
  Trainer trainer(config, model, data, events);
  trainer.run({});

  model.eval();
  GenerateOptions options;
  options.seed = seed;
  Json texts = Json::array();
  show(out, model, *data.tokenizer, "Once upon a", options, false, texts);
  show(out, model, *data.tokenizer, "The fox", options, true, texts);

  GenerateOptions cached = options, uncached = options;
  uncached.kv_cache = false;
  const bool equal = generate(model, *data.tokenizer, "Red", cached).tokens ==
                     generate(model, *data.tokenizer, "Red", uncached).tokens;
  out.say(cat("-- 'Red', seed ", seed, ", both ways: the ", options.max_new_tokens, " tokens are ",
              equal ? "equal" : "NOT equal", " --"));
  out.result({{"demo", "gpt"},
              {"parameters", model.parameter_count()},
              {"log", log},
              {"texts", texts},
              {"cache_equal", equal}});
  if (!equal) throw world_error("the texts with and without the key/value cache differ");
}

}  // namespace llmtool
