// A short proof that a device computes what it should: drivers exist that report a GPU and return garbage.
// Not here: the tests of every kernel (tests/kernels).
#pragma once
#include <string>

#include "device/device.h"

namespace llmtool::vulkan {

/// Empty where a small matrix product of odd sizes, a reduction, tanh and exp give what plain loops give,
/// else one line that says what did not.
std::string self_test(Device& device);

}  // namespace llmtool::vulkan
