// How much work a launch is: multiply-adds and bytes, as a profile and a time budget count them. Not here:
// how long it takes.
#pragma once
#include <span>

#include "device/kernel_id.h"
#include "device/view.h"

namespace llmtool {

struct Cost {
  double flops = 0;  ///< A multiply-add is two. Matrix products and attention; a few per element elsewhere.
  double bytes = 0;  ///< Of all arguments, once; of a table only the rows in use.
};

/// What a launch needs at least: every argument read or written once, of a table that is looked up as many
/// rows as are asked for.
Cost cost_of(KernelId id, std::span<const View> views, const void* params) noexcept;

}  // namespace llmtool
