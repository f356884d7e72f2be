// A Vulkan device for a test, or none. Not here: what is tested.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"
#include "support/catch.h"
#include "vulkan/vulkan_device.h"

namespace llmtool::gpu_test {

/// With the device go its mistakes: a message of the validation layer since the last one fails the test.
struct CheckedDelete {
  void operator()(Device* device) const {
    delete device;
    static std::uint64_t seen = 0;
    const std::uint64_t before = seen;
    seen = validation_messages();
    CHECK(seen - before == 0);
  }
};
using DevicePtr = std::unique_ptr<Device, CheckedDelete>;

/// The best device, a software driver too. Where there is none the test says so and is passed over, unless
/// the environment variable LLMTOOL_TEST_NEED_VULKAN asks for one; where validation is asked for and its
/// layer is not installed it is always passed over.
inline DevicePtr device_or_none() {
  try {
    return DevicePtr(make_vulkan_device().release());
  } catch (const Error& error) {
    const bool no_layer = std::string(error.what()).find("is not installed") != std::string::npos &&
                          std::getenv("LLMTOOL_VK_VALIDATE") != nullptr;
    if (!no_layer && std::getenv("LLMTOOL_TEST_NEED_VULKAN") != nullptr) FAIL(error.what());
    WARN("passed over: " << error.what());
    return nullptr;
  }
}

}  // namespace llmtool::gpu_test
