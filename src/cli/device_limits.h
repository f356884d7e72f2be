// What a device can do at most, measured: what profiles and benchmarks are held against. Not here: what is
// measured against it (profile.h, bench.h).
#pragma once
#include <functional>
#include <string>

#include "device/device.h"

namespace llmtool {

struct DeviceLimits {
  double gflops = 0;  ///< Arithmetic in 32-bit floats, 1e9 operations per second; a multiply-add is two.
  double gbytes = 0;  ///< Memory, 1e9 bytes read or written per second.
  const char* of_flops = "";  ///< How it was measured: "measured FMA peak", "best large matmul".
  const char* of_bytes = "";  ///< "measured bandwidth".
  /// Too slow for the usual sizes: a software driver.
  bool slow() const noexcept { return gflops < 20; }
};

/// Seconds of one `body` and what it launches: the best of three measurements of enough runs for some
/// milliseconds each, after one that compiles what is compiled at first use; of a single run where that takes
/// long.
double best_seconds(Device& device, const std::function<void()>& body);

/// On the CPU: chains of multiply-adds on as many threads as the device has, and the best of a copy and of
/// y = a x + b over 64 MiB (256 MiB where that is quick). On others: the best square product (up to 4096^3,
/// as far as a run takes less than about 0.1 s), and the same for memory. Waits for the device; about half a
/// second.
DeviceLimits measure_limits(Device& device);

}  // namespace llmtool
