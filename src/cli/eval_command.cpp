// `llmtool eval`: a model's loss on texts. Not here: how it is computed (train/evaluate.h).
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "checkpoint/model_dir.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/number_flag.h"
#include "cli/output.h"
#include "formats/json.h"
#include "train/data_source.h"
#include "train/evaluate.h"

namespace llmtool {

namespace {

struct EvalFlags {
  CommonFlags common;
  std::string model = "runs/default";
  std::vector<std::string> data;
  std::int64_t stride = 0, batch = 8;
};

void run_eval(const EvalFlags& flags) {
  flags.common.apply();
  const std::string device_name = flags.common.device.empty() ? "auto" : flags.common.device;
  check_device_name(device_name);
  const ModelFiles files = open_model(flags.model);
  const std::int64_t block = files.config.model.block_size;
  if (flags.stride > block)
    throw request_error(cat("--stride ", flags.stride, " is above the model's block_size ", block,
                            ", so tokens would be left out"));
  ThreadPool pool(flags.common.thread_count());
  const TokenView tokens = tokens_of(DataSource(flags.data), *files.tokenizer, pool);
  if (tokens.size() < 2)
    throw world_error(cat(flags.data.front(), ": ", tokens.size(),
                          " token; at least 2 are needed, since the first is not predicted"));
  const std::unique_ptr<Device> device = open_device(device_name, flags.common.threads);
  const std::unique_ptr<GPT> model = load_model(files, *device);
  Evaluator evaluator(*model, *files.tokenizer);
  const Evaluation e = evaluator(EvalWindows(tokens, block, flags.batch, 0, flags.stride));
  if (flags.common.json)
    print_line(to_json_line(Json{{"loss", e.loss},
                                 {"perplexity", e.perplexity()},
                                 {"bits_per_byte", e.bits_per_byte()},
                                 {"tokens", e.tokens},
                                 {"bytes", e.bytes}}));
  else
    print_line(cat("loss ", fixed(e.loss, 4), " | perplexity ", fixed(e.perplexity(), 3), " | bits_per_byte ",
                   fixed(e.bits_per_byte(), 3), " | ", e.tokens, " tokens, ", e.bytes, " bytes"));
}

}  // namespace

void add_eval_command(CLI::App& app) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "loss, perplexity and bits per byte of a model on texts");
  command->add_option("--model", flags->model, "run, checkpoint or model directory (default runs/default)")
      ->type_name("DIR");
  command->add_option("--data", flags->data, "text files or folders, or token shards")
      ->type_name("FILE")
      ->required();
  add_integer(*command, "--stride", "N", flags->stride,
              "tokens between windows (default block_size: side by side)", 1);
  add_integer(*command, "--batch-size", "N", flags->batch, "windows at a time (default 8)", 1, 65536);
  flags->common.add_compute(*command);
  flags->common.add_output(*command);
  command->callback([flags] { run_eval(*flags); });
}

}  // namespace llmtool
