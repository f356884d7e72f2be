// Demo: every GPU against the CPU, on the operations a network is made of.
#include "base/error.h"
#include "cli/common_flags.h"
#include "cli/demo.h"
#include "cli/gpus.h"

namespace llmtool {

void demo_gpu(const DemoOutput& out, const std::string& only) {
  out.say("== gpu ==");
  const VulkanListing listing = list_gpus();
  if (listing.devices.empty()) {
    out.say(cat("no Vulkan device: ", listing.why_none, "; everything ran on the CPU"));
  }
  Json devices = Json::array();
  std::string wrong;
  for (std::size_t i = 0; i < listing.devices.size(); ++i) {
    const VulkanInfo& info = listing.devices[i];
    const std::string name = cat("vulkan:", i);
    if (!only.empty() && only != name) continue;
    if (!info.unfit.empty()) {
      out.say(cat(name, " (", info.name, ") cannot be used: ", info.unfit));
      devices.push_back({{"device", name}, {"name", info.name}, {"unfit", info.unfit}});
      continue;
    }
    out.say(cat("-- ", name, ": ", info.name, " (", info.kind, ") --"));
    const auto gpu = open_device(name, 0), cpu = open_device("cpu", 0);
    Json rows = Json::array();
    for (const Comparison& c : compare_devices(*gpu, *cpu)) {
      out.say(cat("  ", text_of(c)));
      rows.push_back({{"what", c.what},
                      {"largest_difference", c.difference},
                      {"allowed", c.allowed},
                      {"gpu_seconds", c.gpu_seconds},
                      {"cpu_seconds", c.cpu_seconds},
                      {"flops", c.flops},
                      {"bytes", c.bytes}});
      if (!c.fits() && wrong.empty()) wrong = cat(name, " (", info.name, "): ", text_of(c));
    }
    devices.push_back({{"device", name}, {"name", info.name}, {"kind", info.kind}, {"operations", rows}});
  }
  out.result({{"demo", "gpu"}, {"devices", devices}});
  if (!wrong.empty()) {
    throw world_error(cat("[demo] a GPU computes something else than the CPU: ", wrong), "use --device cpu");
  }
}

}  // namespace llmtool
