// `llmtool devices`: what could compute here. Not here: opening one for work (open_device.cpp).
#include <CLI/CLI.hpp>
#include <memory>

#include "base/threads.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/gpus.h"
#include "cli/output.h"
#include "formats/json.h"
#include "train/memory_plan.h"

namespace llmtool {

namespace {

Json json_of(const VulkanInfo& info, std::size_t index, bool is_auto) {
  Json entry = {{"name", cat("vulkan:", index)},
                {"kind", info.kind},
                {"description", info.name},
                {"driver", info.driver},
                {"memory_bytes", info.memory_bytes},
                {"fp16", info.fp16},
                {"bf16", info.bf16},
                {"matrix_units", info.matrix_units},
                {"auto", is_auto}};
  if (!info.unfit.empty()) entry["unfit"] = info.unfit;
  return entry;
}

std::string text_of(const VulkanInfo& info, std::size_t index) {
  std::string line = cat("vulkan:", index, "  ", info.name, ", ", info.kind, ", ", info.driver, ", ",
                         bytes_text(info.memory_bytes), info.fp16 ? ", fp16" : "", info.bf16 ? ", bf16" : "",
                         info.matrix_units ? ", matrix units" : "");
  if (!info.unfit.empty()) line += cat(" (cannot be used: ", info.unfit, ")");
  return line;
}

void run_devices(const CommonFlags& flags) {
  flags.apply();
  const std::unique_ptr<Device> cpu = open_device("cpu", available_cores());
  const DeviceCaps& caps = cpu->caps();
  const VulkanListing gpus = list_gpus();
  if (flags.json) {
    Json entries = Json::array({{{"name", "cpu"},
                                 {"kind", "cpu"},
                                 {"cores", caps.threads},
                                 {"simd", caps.simd},
                                 {"memory_bytes", caps.memory_bytes},
                                 {"auto", gpus.best < 0}}});
    for (std::size_t i = 0; i < gpus.devices.size(); ++i) {
      entries.push_back(json_of(gpus.devices[i], i, static_cast<int>(i) == gpus.best));
    }
    Json all = {{"devices", entries}};
    if (gpus.devices.empty()) all["why_no_vulkan"] = gpus.why_none;
    print_line(to_json_line(all));
    return;
  }
  const std::string taken = "   <- auto";
  print_line(cat("cpu       ", caps.threads, caps.threads == 1 ? " core, " : " cores, ", caps.simd, ", ",
                 bytes_text(caps.memory_bytes), " available", gpus.best < 0 ? taken : ""));
  for (std::size_t i = 0; i < gpus.devices.size(); ++i) {
    print_line(cat(text_of(gpus.devices[i], i), static_cast<int>(i) == gpus.best ? taken : ""));
  }
  if (gpus.devices.empty()) print_line(cat("vulkan    none: ", gpus.why_none));
}

}  // namespace

void add_devices_command(CLI::App& app) {
  auto flags = std::make_shared<CommonFlags>();
  CLI::App* command = app.add_subcommand("devices", "list the CPU and every GPU that can be used");
  flags->add_output(*command);
  command->callback([flags] { run_devices(*flags); });
}

}  // namespace llmtool
