// A Vulkan device for a test, or none. Not here: what is tested.
#pragma once
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "support/catch.h"
#include "vulkan/vulkan_device.h"

namespace llmtool::gpu_test {

/// The best device, a software driver too. Where there is none the test says so and is passed over, unless
/// the environment variable LLMTOOL_TEST_NEED_VULKAN asks for one.
inline std::unique_ptr<Device> device_or_none() {
  try {
    return make_vulkan_device();
  } catch (const Error& error) {
    if (std::getenv("LLMTOOL_TEST_NEED_VULKAN") != nullptr) FAIL(error.what());
    WARN("passed over: " << error.what());
    return nullptr;
  }
}

}  // namespace llmtool::gpu_test
