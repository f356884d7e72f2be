// A launch as all the dispatches that do it: cut where views are too large, every piece planned, and the
// scratch memory of the pieces as one range that each uses in its turn. A pure function of the launch and the
// limits, so that memory is counted before there is any. Not here: the cuts (split.h), the plan of a piece
// (plan.h).
#pragma once
#include <cstdint>
#include <vector>

#include "vulkan/plan.h"

namespace llmtool::vulkan {

struct PlannedLaunch {
  std::vector<Dispatch> dispatches;
  std::uint64_t scratch_bytes = 0;  ///< 0: none is needed.
};

/// Views of scratch memory have no block yet, and offsets from its start, at multiples of 256 and of the
/// device's alignment. world_error as split().
PlannedLaunch plan_launch(const Launch& launch, const Limits& limits);

/// Gives the views of scratch memory their place: `scratch` holds scratch_bytes at least, at an offset that
/// is such a multiple.
void place_scratch(PlannedLaunch& planned, const View& scratch);

}  // namespace llmtool::vulkan
