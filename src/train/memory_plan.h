// How much memory and arithmetic a run takes, found by running one step and one evaluation on a device that
// only counts. Not here: whether there is as much (the caller compares).
#pragma once
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "checkpoint/train_config.h"
#include "device/device.h"

namespace llmtool {

/// What follows from the configuration alone.
struct RunSize {
  std::int64_t parameters = 0;
  std::int64_t decayed = 0;
  std::int64_t tokens_per_step = 0;
  double flops_per_step = 0;
};
/// request_error for more tokens in a micro-batch than kernels can number.
RunSize run_size(const TrainConfig& config, std::int64_t vocab_size);

struct MemoryPlan : RunSize {
  std::uint64_t parameter_bytes = 0;
  std::uint64_t gradient_bytes = 0;
  std::uint64_t moment_bytes = 0;
  std::uint64_t activation_bytes = 0;  ///< Peak of everything else.
  std::uint64_t total_bytes() const noexcept {
    return parameter_bytes + gradient_bytes + moment_bytes + activation_bytes;
  }
  std::uint64_t launches_per_step = 0;
  /// Why no device takes these parameters, whatever its memory; activations and launches are then unknown.
  std::optional<Error> unplaceable;
};

/// `device`: the one that will run it, whose block sizes and scratch memory (within the activations) count
/// then.
MemoryPlan plan_memory(const TrainConfig& config, std::int64_t vocab_size, const Device* device = nullptr);

/// world_error naming the need, what there is and the knobs, if `plan` is more than the device has; what
/// makes it unplaceable, if only that stands in the way.
void require_memory(const MemoryPlan& plan, const DeviceCaps& caps);

/// How a run fits a device.
struct DeviceFit {
  MemoryPlan memory;             ///< On this device.
  std::optional<Error> why_not;  ///< As of require_memory(); nothing where the run fits.
};
/// Where it is tight, steps and evaluations are rehearsed with the device's own memory, which may be enough
/// in all but not in one piece.
DeviceFit fit_device(const TrainConfig& config, std::int64_t vocab_size, const Device& device);

/// "1.2 GiB", "340 MiB".
std::string bytes_text(std::uint64_t bytes);
/// "parameters 40.7 MiB, gradients 40.7 MiB, moments 81.4 MiB, activations 2.41 GiB"
std::string memory_parts_text(const MemoryPlan& plan);

}  // namespace llmtool
