// The CPU device at each SIMD level that this processor runs, for tests that hold at all of them.
#pragma once
#include <memory>
#include <string>

#include "device/device.h"

namespace llmtool::kernel_test {

/// A CPU device as LLMTOOL_SIMD=level makes it; the variable is put back.
std::unique_ptr<Device> cpu_at_level(const std::string& level, int threads);

}  // namespace llmtool::kernel_test
