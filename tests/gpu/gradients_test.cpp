// The graphs of tests/ops on the Vulkan device: values and gradients are the reference device's. Not here:
// the kernels one by one (matrix_test.cpp).
#include "gpu/support.h"
#include "ops/compare_gradients.h"

using namespace llmtool;

TEST_CASE("values and gradients on the Vulkan device are the reference device's", "[gradients]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (const test::Case& c : test::gradient_cases()) test::require_reference_gradients(*device, c);
}
