// Hazards between recorded commands; see hazards.h.
#include "device/hazards.h"

#include <algorithm>

namespace llmtool {

std::vector<Touch> touches_of(KernelId id, std::span<const View> views) {
  const KernelInfo& info = kernel_info(id);
  std::vector<Touch> touches;
  touches.reserve(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const View& view = views[i];
    if (!view) continue;
    const bool writes = info.access(static_cast<int>(i)) != Access::read;
    touches.push_back({view.block->id, view.offset, view.offset + view.bytes, writes});
  }
  return touches;
}

bool conflict(std::span<const Touch> earlier, std::span<const Touch> later) noexcept {
  for (const Touch& a : earlier) {
    for (const Touch& b : later) {
      if (a.block == b.block && (a.writes || b.writes) && std::max(a.begin, b.begin) < std::min(a.end, b.end))
        return true;
    }
  }
  return false;
}

bool HazardTracker::record(std::span<const Touch> touches) {
  const bool barrier = conflict(since_barrier_, touches);
  if (barrier) since_barrier_.clear();
  since_barrier_.insert(since_barrier_.end(), touches.begin(), touches.end());
  return barrier;
}

void HazardTracker::clear() noexcept { since_barrier_.clear(); }

}  // namespace llmtool
