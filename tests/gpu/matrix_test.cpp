// The kernel matrix on the Vulkan device: the cases of tests/kernels, against the reference device.
#include "gpu/support.h"
#include "kernels/run.h"

using namespace llmtool;
using namespace llmtool::kernel_test;

TEST_CASE("kernel matrix: vulkan", "[matrix]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const char* const fewer = std::getenv("LLMTOOL_TEST_EVERY");  // under slow conditions, see CMakeLists.txt
  const auto every = fewer == nullptr ? 1u : static_cast<std::uint32_t>(std::atoi(fewer));
  for (int k = 0; k < kernel_count; ++k) {
    const KernelId id = static_cast<KernelId>(k);
    DYNAMIC_SECTION(kernel_info(id).name) {
      const auto failures = failures_of(*device, id, every);
      for (std::size_t i = 0; i < failures.size() && i < 4; ++i) UNSCOPED_INFO(failures[i]);
      CHECK(failures.size() == 0);
    }
  }
}
