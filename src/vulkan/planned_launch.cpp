// Cutting, planning and counting of scratch memory; see planned_launch.h.
#include "vulkan/planned_launch.h"

#include <algorithm>
#include <iterator>

#include "vulkan/split.h"

namespace llmtool::vulkan {

PlannedLaunch plan_launch(const Launch& launch, const Limits& limits) {
  const std::uint64_t unit = std::max(256u, limits.offset_alignment);
  PlannedLaunch planned;
  for (const Launch& piece : split(launch, limits)) {
    std::uint64_t end = 0;
    std::vector<Dispatch> dispatches = plan(piece, limits, [&](std::uint64_t bytes) {
      const View view{nullptr, (end + unit - 1) / unit * unit, bytes, DType::f32};
      end = view.offset + bytes;
      return view;
    });
    planned.scratch_bytes = std::max(planned.scratch_bytes, end);
    std::move(dispatches.begin(), dispatches.end(), std::back_inserter(planned.dispatches));
  }
  return planned;
}

void place_scratch(PlannedLaunch& planned, const View& scratch) {
  LLMTOOL_CHECK(scratch.bytes >= planned.scratch_bytes, scratch.bytes, " bytes of scratch memory, not ",
                planned.scratch_bytes);
  for (Dispatch& d : planned.dispatches) {
    for (View& view : d.views) {
      if (!view || view.block != nullptr) continue;
      view.block = scratch.block;
      view.offset += scratch.offset;
    }
  }
}

}  // namespace llmtool::vulkan
