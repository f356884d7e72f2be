// The CPU as a Device. Every launch runs at once, on the caller's thread and those of its pool; submit() and
// wait() only count. Not here: the kernels (kernel_table.h).
#pragma once
#include <memory>

#include "device/device.h"

namespace llmtool {

/// A device on `threads` threads, the caller's included. caps(): name "cpu", the SIMD level (the environment
/// variable LLMTOOL_SIMD forces one), the threads, and the memory that was available when it was made.
/// Numbers do not depend on `threads`. request_error for a bad number of threads or an unknown LLMTOOL_SIMD.
std::unique_ptr<Device> make_cpu_device(int threads);

}  // namespace llmtool
