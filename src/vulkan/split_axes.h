// Along which dimensions each kernel can be cut in two, and what its parameters and views are then. Not here:
// which cut is chosen, and how often (split.h).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "vulkan/plan.h"

namespace llmtool::vulkan {

/// How one view moves along an axis, in elements.
struct AxisView {
  std::uint64_t step = 0;  ///< From one unit to the next; 0: every piece needs the whole view.
  std::uint64_t span = 0;  ///< Of one unit; 0: what the view has beyond the steps.
};

/// A dimension along which a launch can be cut at any multiple of `quantum` (at any place if it is shorter).
struct Axis {
  std::uint64_t extent = 0;
  std::uint64_t quantum = 1;
  std::array<AxisView, 8> views{};
  /// Changes the parameters and windows of two copies of the launch to [0, at) and [at, extent).
  std::function<void(Launch& first, Launch& second, std::uint32_t at)> cut;
};

struct Axes {
  std::vector<Axis> list;  ///< The better ones first.
  /// The axis lies around others that come to light once it is cut down to 1: worth cutting even where the
  /// view that is too large does not move along it.
  bool nested = false;
};

Axes axes_of(const Launch& launch);

}  // namespace llmtool::vulkan
