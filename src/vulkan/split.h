// Cutting a launch whose views are larger than a device can bind into launches whose views are not. A pure
// function of the launch and the limits. Not here: where each kernel can be cut (split_axes.h).
#pragma once
#include <vector>

#include "vulkan/plan.h"

namespace llmtool::vulkan {

/// Bytes that a view may have everywhere: a buffer is bound from an offset that is rounded down.
constexpr std::uint64_t view_limit(const Limits& limits) noexcept {
  return limits.max_range > limits.offset_alignment ? limits.max_range - limits.offset_alignment : 0;
}

/// The launch itself where every view fits view_limit(), else pieces of it by recursive halving. Run in order
/// they do what the launch does; their views are parts of its views. world_error, naming kernel, argument and
/// limit, where no cut makes a view small enough.
std::vector<Launch> split(const Launch& launch, const Limits& limits);

}  // namespace llmtool::vulkan
