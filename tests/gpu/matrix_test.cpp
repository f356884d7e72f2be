// The kernel matrix on the Vulkan device: the cases of tests/kernels, against the reference device.
#include "gpu/support.h"
#include "kernels/run.h"

using namespace llmtool;
using namespace llmtool::kernel_test;

TEST_CASE("kernel matrix: vulkan") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (int k = 0; k < kernel_count; ++k) {
    const KernelId id = static_cast<KernelId>(k);
    DYNAMIC_SECTION(kernel_info(id).name) {
      const auto failures = failures_of(*device, id);
      for (std::size_t i = 0; i < failures.size() && i < 4; ++i) UNSCOPED_INFO(failures[i]);
      CHECK(failures.size() == 0);
      CHECK(validation_messages(*device) == 0);
    }
  }
}
