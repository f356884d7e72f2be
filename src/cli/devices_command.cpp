// `llmtool devices`: what could compute here. Not here: opening one for work (open_device.cpp).
#include <CLI/CLI.hpp>
#include <memory>

#include "base/threads.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/output.h"
#include "formats/json.h"
#include "train/memory_plan.h"

namespace llmtool {

namespace {

void run_devices(const CommonFlags& flags) {
  flags.apply();
  const std::unique_ptr<Device> cpu = open_device("cpu", available_cores());
  const DeviceCaps& caps = cpu->caps();
  if (flags.json) {
    Json entry = {{"name", "cpu"},
                  {"kind", "cpu"},
                  {"cores", caps.threads},
                  {"simd", caps.simd},
                  {"memory_bytes", caps.memory_bytes},
                  {"auto", true}};
    print_line(to_json_line(Json{{"devices", Json::array({entry})}}));
    return;
  }
  print_line(cat("cpu     ", caps.threads, caps.threads == 1 ? " core, " : " cores, ", caps.simd, ", ",
                 bytes_text(caps.memory_bytes), " available   <- auto"));
  print_line("vulkan  none: this build has no Vulkan devices");
}

}  // namespace

void add_devices_command(CLI::App& app) {
  auto flags = std::make_shared<CommonFlags>();
  CLI::App* command = app.add_subcommand("devices", "list the CPU and every GPU that can be used");
  flags->add_output(*command);
  command->callback([flags] { run_devices(*flags); });
}

}  // namespace llmtool
