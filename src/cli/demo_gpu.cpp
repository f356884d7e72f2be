// Demo: GPUs against the CPU. This build knows no GPU, and says so.
#include "cli/demo.h"

namespace llmtool {

void demo_gpu(const DemoOutput& out) {
  out.say("== gpu ==");
  out.say("no Vulkan device: this build has none, so everything above ran on the CPU");
  out.result({{"demo", "gpu"}, {"devices", Json::array()}});
}

}  // namespace llmtool
