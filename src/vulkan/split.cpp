// Choice of cuts, and cutting of views; see split.h.
#include "vulkan/split.h"

#include <algorithm>

#include "vulkan/split_axes.h"

namespace llmtool::vulkan {
namespace {

/// The first view above the limit, or the number of views.
std::size_t too_large(const Launch& launch, std::uint64_t limit) {
  std::size_t i = 0;
  while (i < launch.views.size() && launch.views[i].bytes <= limit) ++i;
  return i;
}

/// Whether cutting the axis down to 1 takes at least half of the view away: a view whose units interleave (a
/// column of a matrix stored by rows) stays nearly whole.
bool shrinks(const Axis& axis, std::size_t view, std::uint64_t elements) {
  return axis.extent > 1 && 2 * (axis.extent - 1) * axis.views[view].step >= elements;
}

const Axis* chosen(const Axes& axes, std::size_t view, std::uint64_t elements) {
  for (const Axis& axis : axes.list) {
    if (shrinks(axis, view, elements)) return &axis;
    if (axes.nested && axis.extent > 1 && axis.views[view].step == 0) return &axis;
  }
  return nullptr;
}

[[noreturn]] void refuse(const Launch& launch, std::size_t view, std::uint64_t limit) {
  const auto size = [](std::uint64_t bytes) {
    return bytes < 1000000 ? cat(bytes, " bytes") : fixed(static_cast<double>(bytes) / 1e6, 1) + " MB";
  };
  throw world_error(
      cat("[", kernel_info(launch.id).name, "] argument ", view, " takes ", size(launch.views[view].bytes),
          ", the device binds at most ", size(limit), " at once, and this launch cannot be cut further"),
      "use a smaller batch, context, vocabulary or width");
}

/// The middle of an axis, at a multiple of its quantum where it is long enough for one.
std::uint64_t middle(const Axis& axis) {
  const std::uint64_t quantum = axis.extent > axis.quantum ? axis.quantum : 1;
  return std::max(quantum, (axis.extent / 2 + quantum / 2) / quantum * quantum);
}

void cut_views(const Axis& axis, std::uint64_t at, Launch& first, Launch& second) {
  for (std::size_t i = 0; i < first.views.size(); ++i) {
    const AxisView& along = axis.views[i];
    View &a = first.views[i], &b = second.views[i];
    if (!a || along.step == 0) continue;
    const std::uint64_t elements = a.elements(), moved = at * along.step;
    LLMTOOL_CHECK(elements > (axis.extent - 1) * along.step, kernel_info(first.id).name, ": argument ", i,
                  " has ", elements, " elements for ", axis.extent, " steps of ", along.step);
    const std::uint64_t span = along.span != 0 ? along.span : elements - (axis.extent - 1) * along.step;
    a.bytes = std::min(elements, moved - along.step + span) * size_of(a.dtype);
    b.offset += moved * size_of(b.dtype);
    b.bytes -= moved * size_of(b.dtype);
  }
}

void split_into(std::vector<Launch>& pieces, Launch launch, std::uint64_t limit) {
  const std::size_t view = too_large(launch, limit);
  if (view == launch.views.size()) {
    pieces.push_back(std::move(launch));
    return;
  }
  const Axes axes = axes_of(launch);
  const Axis* axis = chosen(axes, view, launch.views[view].elements());
  if (axis == nullptr) refuse(launch, view, limit);
  const std::uint64_t at = middle(*axis);
  Launch second = launch;
  cut_views(*axis, at, launch, second);
  axis->cut(launch, second, static_cast<std::uint32_t>(at));
  split_into(pieces, std::move(launch), limit);
  split_into(pieces, std::move(second), limit);
}

}  // namespace

std::vector<Launch> split(const Launch& launch, const Limits& limits) {
  std::vector<Launch> pieces;
  split_into(pieces, launch, view_limit(limits));
  return pieces;
}

}  // namespace llmtool::vulkan
