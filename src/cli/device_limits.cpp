// Measuring a device's limits; see device_limits.h.
#include "cli/device_limits.h"

#include <algorithm>
#include <chrono>

#include "base/threads.h"
#include "cpu/peak.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "tensor/autograd.h"

namespace llmtool {
namespace {

double seconds_of(Device& device, int times, const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) body();
  device.synchronise();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

/// Whether three buffers of this size fit beside what there is.
bool has_room(const Device& device, std::int64_t elements) {
  const std::uint64_t wanted = 3 * 4 * static_cast<std::uint64_t>(elements);
  const std::uint64_t used = device.stats().block_bytes, all = device.caps().memory_bytes;
  return used < all && wanted < (all - used) / 2;
}

/// Products that grow while they are quick; the best rate.
double best_product(Device& device) {
  double best = 0;
  for (const std::int64_t n : {128, 256, 512, 1024, 2048, 4096}) {
    if (!has_room(device, n * n)) break;
    const Tensor a = Tensor::full(device, {n, n}, 0.5f), b = Tensor::full(device, {n, n}, 0.25f);
    const double seconds = best_seconds(device, [&] { ops::matmul(a, b); });
    const double cubed = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    best = std::max(best, 2e-9 * cubed / seconds);
    if (seconds > 12e-3) break;
  }
  return best;
}

/// The best of a copy and of y = a x + b, of the largest buffers that fit and are quick: no cache should hold
/// them.
double best_bandwidth(Device& device) {
  double best = 0;
  for (const std::int64_t mebibytes : {4, 64, 256}) {
    const std::int64_t n = mebibytes << 18;
    if (!has_room(device, n)) break;
    const double bytes = 2.0 * static_cast<double>(n) * sizeof(float);
    const Tensor x = Tensor::full(device, {n}, 1.0f), y = Tensor::full(device, {n}, 1.0f);
    const double copied = best_seconds(device, [&] { device.copy(x.view(), y.view()); });
    const double computed = best_seconds(device, [&] { ops::affine(x, 1.5f, 0.5f); });
    best = 1e-9 * bytes / std::min(copied, computed);  // of this size alone
    if (mebibytes >= 64 && copied > 1e-3) break;
  }
  return best;
}

}  // namespace

double best_seconds(Device& device, const std::function<void()>& body) {
  seconds_of(device, 1, body);
  const double once = seconds_of(device, 1, body);
  if (once > 0.2) return once;
  const int times = std::clamp(static_cast<int>(10e-3 / std::max(once, 1e-6)), 1, 100);
  double best = once;
  for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of(device, times, body));
  return best;
}

DeviceLimits measure_limits(Device& device) {
  const NoGrad no_grad;
  DeviceLimits limits;
  if (device.name() == "cpu") {
    ThreadPool pool(device.caps().threads);
    limits.gflops = cpu::measure_fma_peak_gflops(pool);
    limits.of_flops = "measured FMA peak";
  } else {
    limits.gflops = best_product(device);
    limits.of_flops = "best large matmul";
  }
  limits.gbytes = best_bandwidth(device);
  limits.of_bytes = "measured bandwidth";
  return limits;
}

}  // namespace llmtool
