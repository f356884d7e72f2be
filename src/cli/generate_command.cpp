// `llmtool generate`: flags, the prompt, and text as it comes. Not here: sampling and the context rule
// (generate).
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "checkpoint/model_dir.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/number_flag.h"
#include "cli/output.h"
#include "formats/json.h"
#include "generate/generator.h"
#include "generate/text_stream.h"

namespace llmtool {

namespace {

struct GenerateFlags {
  CommonFlags common;
  std::string model = "runs/default", prompt, prompt_file;
  GenerateOptions options;
  std::int64_t num_samples = 1;
  bool no_kv_cache = false, no_echo = false;
};

Json sample_json(const Generated& g) {
  return {{"prompt_tokens", g.prompt_tokens}, {"tokens", g.tokens}, {"text", g.text}, {"finish", g.finish}};
}

void run_generate(GenerateFlags& flags) {
  flags.common.apply();
  check(flags.options.sampling);
  check_stops(flags.options.stop);
  const std::string device_name = flags.common.device.empty() ? "auto" : flags.common.device;
  check_device_name(device_name);
  const std::string prompt = flags.prompt_file.empty() ? flags.prompt : read_file(flags.prompt_file);
  const ModelFiles files = open_model(flags.model);
  const auto prompt_tokens =
      static_cast<std::int64_t>(files.tokenizer->encode(prompt).size());  // refuses what the vocabulary lacks
  const std::int64_t block = files.config.model.block_size;
  if (prompt_tokens > block)
    note(cat("the prompt has ", prompt_tokens, " tokens; its last ", block, " are used (block_size)"));
  const std::unique_ptr<Device> device = open_device(device_name, flags.common.threads);
  const std::unique_ptr<GPT> model = load_model(files, *device);
  flags.options.kv_cache = !flags.no_kv_cache;
  flags.options.seed = flags.common.seed_or_draw();
  for (std::int64_t i = 0; i < flags.num_samples; ++i) {
    throw_if_interrupted();
    flags.options.sample_index = static_cast<std::uint64_t>(i);
    if (flags.common.json) {
      print_line(to_json_line(sample_json(generate(*model, *files.tokenizer, prompt, flags.options))));
      continue;
    }
    if (flags.num_samples > 1) print(cat(i == 0 ? "" : "\n", "--- sample ", i + 1, " ---\n"));
    if (!flags.no_echo) print(prompt);
    generate(*model, *files.tokenizer, prompt, flags.options, [](std::string_view piece) {
      throw_if_interrupted();
      print(piece);
    });
    print("\n");
  }
}

}  // namespace

void add_generate_command(CLI::App& app) {
  auto flags = std::make_shared<GenerateFlags>();
  SamplingOptions& s = flags->options.sampling;
  CLI::App* command = app.add_subcommand("generate", "continue a prompt with a trained model");
  auto* prompt =
      command->add_option("--prompt,-p", flags->prompt, "text to continue; empty: from the start of a text")
          ->type_name("TEXT");
  command->add_option("--prompt-file", flags->prompt_file, "the prompt from a file (- is stdin)")
      ->type_name("FILE")
      ->excludes(prompt);
  command->add_option("--model", flags->model, "run, checkpoint or model directory (default runs/default)")
      ->type_name("DIR");
  add_integer(*command, "--max-new-tokens", "N", flags->options.max_new_tokens, "tokens to make (default 80)",
              0);
  add_real(*command, "--temperature", "T", s.temperature, "0: greedy (default 0.8)");
  add_integer(*command, "--top-k", "K", s.top_k, "keep the K most probable tokens; 0: all (default 10)");
  add_real(*command, "--top-p", "P", s.top_p,
           "keep the most probable tokens up to this probability; 1: all (default 0.9)");
  add_real(*command, "--min-p", "P", s.min_p,
           "drop tokens below this part of the most probable one (default 0)");
  add_real(*command, "--repetition-penalty", "R", s.repetition_penalty,
           "above 1: tokens of the context become less probable (default 1)");
  command->add_option("--stop", flags->options.stop, "end before this text (may be given several times)")
      ->type_name("TEXT")
      ->take_all()
      ->expected(1);
  add_integer(*command, "--num-samples", "N", flags->num_samples, "texts to make (default 1)", 1);
  command->add_flag("--no-kv-cache", flags->no_kv_cache,
                    "evaluate the whole context for each token; the same text, slower");
  command->add_flag("--no-echo", flags->no_echo, "do not print the prompt first");
  flags->common.add_compute(*command);
  flags->common.add_seed(*command);
  flags->common.add_output(*command);
  command->callback([flags] { run_generate(*flags); });
}

}  // namespace llmtool
