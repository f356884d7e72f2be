// The GPUs a command can show, and how one compares with the CPU. Not here: opening a device for work
// (common_flags.h).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "device/device.h"
#include "tensor/tensor.h"
#include "vulkan/vulkan_device.h"

namespace llmtool {

/// What there is; nothing, with the reason, in a build without Vulkan.
VulkanListing list_gpus();

/// One operation to compare or to time.
struct DeviceWork {
  std::string what;  ///< "matmul 512 x 512 x 512".
  Shape a, b;        ///< Of its operands.
  std::function<Tensor(const Tensor&, const Tensor&)> run;
  double flops = 0;
  double allowed = 0;  ///< Largest difference that rounding explains.
};

/// One operation on a GPU and on the CPU, on the same values.
struct Comparison {
  std::string what;        ///< "matmul 512 x 512 x 512".
  double difference = 0;   ///< Largest |gpu - cpu|.
  double allowed = 0;      ///< What rounding explains: grows with the terms of a sum and their size.
  double gpu_seconds = 0;  ///< Of one run; see best_seconds().
  double cpu_seconds = 0;
  double flops = 0, bytes = 0;  ///< Of one run; bytes of operands and result, once.
  bool fits() const noexcept { return difference <= allowed; }  ///< False for NaN, too.
};

/// Runs `work` on both, on the same values in [-1, 1). Without a `cpu` the first alone is timed.
Comparison compare(const DeviceWork& work, Device& gpu, Device* cpu);

/// scale, relu and add of n elements, called "scale of <count>" and so on.
std::vector<DeviceWork> elementwise_works(std::int64_t n, const std::string& count);

/// matmul 512^3 and batched, scale, relu and add.
std::vector<Comparison> compare_devices(Device& gpu, Device& cpu);

/// "matmul 512 x 512 x 512 | difference 1.2e-05 of 3.7e-04 | 1.1 ms against 2.3 ms | 240.1 and 116.2
/// GFLOP/s".
std::string text_of(const Comparison& c);

}  // namespace llmtool
