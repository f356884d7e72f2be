// `llmtool demo [all|tensor|xor|bpe|gpt|gpu]`: the walkthrough. Not here: its parts.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/demo.h"

namespace llmtool {

namespace {

struct DemoFlags {
  CommonFlags common;
  std::string part = "all";
};

void run_demo(const DemoFlags& flags) {
  flags.common.apply();
  const std::vector<std::string> parts = {"tensor", "xor", "bpe", "gpt", "gpu"};
  std::vector<std::string> names = parts;
  names.insert(names.begin(), "all");
  require_part("demo", flags.part, names);
  const std::uint64_t seed = flags.common.seed.value_or(42);
  const std::string asked = flags.common.device.empty() ? "auto" : flags.common.device;
  if (asked == "cpu" && flags.part == "gpu")
    throw request_error(
        "demo gpu compares GPUs with the CPU, got --device cpu: expected auto, vulkan or vulkan:N");
  const std::unique_ptr<Device> device = open_device(asked, flags.common.threads);
  const DemoOutput out(flags.common.json);
  bool first = true;
  for (const std::string& part : parts) {
    if (flags.part != "all" && flags.part != part) continue;
    if (part == "gpu" && asked == "cpu") continue;
    throw_if_interrupted();
    if (!first) out.say("");
    first = false;
    if (part == "tensor") demo_tensor(*device, out);
    if (part == "xor") demo_xor(*device, out, seed);
    if (part == "bpe") demo_bpe(out);
    if (part == "gpt") demo_gpt(*device, out, seed);
    if (part == "gpu") demo_gpu(out, asked == "auto" ? "" : device->name());
  }
}

}  // namespace

void add_demo_command(CLI::App& app) {
  auto flags = std::make_shared<DemoFlags>();
  CLI::App* command =
      app.add_subcommand("demo", "the walkthrough, in seconds: tensors, a network, a tokenizer, a GPT");
  command->add_option("part", flags->part, "all, tensor, xor, bpe, gpt or gpu");
  flags->common.add_compute(*command);
  flags->common.add_seed(*command);
  flags->common.add_output(*command);
  command->callback([flags] { run_demo(*flags); });
}

}  // namespace llmtool
