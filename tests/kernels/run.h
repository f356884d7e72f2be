// Runs cases of the kernel matrix on a device and compares them with the reference device.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {

/// The words of every argument after the launch; empty for one that was left out.
using Words = std::vector<std::vector<std::uint32_t>>;

/// One case on a device. InternalError where words beside a view, or of an argument that is only read, have
/// changed.
Words run_case(Device& device, const Case& c);

/// The same on the reference device, as wide scalars.
std::vector<std::vector<double>> reference_of(const Case& c);

/// Empty where `got` is as near to `want` as the case asks, else one line that says what is wrong.
std::string difference(const Case& c, const Words& got, const std::vector<std::vector<double>>& want);

/// Runs and compares the cases of one kernel; the failures, one line each. With `every` above 1 about one of
/// that many cases, scattered, so that no variant that comes at a period is left out; the first always.
std::vector<std::string> failures_of(Device& device, KernelId id, std::uint32_t every = 1);

}  // namespace llmtool::kernel_test
