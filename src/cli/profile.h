// Where a device's time went, kernel by kernel, beside what the device can do. Not here: the measuring of a
// launch (device.h), of the limits (device_limits.h).
#pragma once
#include <string>

#include "cli/device_limits.h"
#include "formats/json.h"

namespace llmtool {

/// A table, one row per kernel, longest first: launches, milliseconds, share of the time, GB/s and GFLOP/s,
/// each with its part of the device's limit. Bytes are every argument once, so that a matrix product whose
/// operands stay in a cache can exceed the memory's bandwidth, and so can small tensors.
std::string profile_text(const KernelTimes& times, const DeviceLimits& limits);

/// The same: {"event": "profile", "gflops_limit", "gbytes_limit", "seconds", "kernels": [{"kernel",
/// "launches", "seconds", "share", "gbytes_per_second", "gflops", "of_bandwidth", "of_arithmetic"}]}.
Json profile_json(const KernelTimes& times, const DeviceLimits& limits);

}  // namespace llmtool
