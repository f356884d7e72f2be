// Which of the devices is taken. Not here: whether it computes rightly (self_test.h).
#pragma once
#include <string>

#include "vulkan/instance.h"

namespace llmtool::vulkan {

/// Index of the best usable device: discrete, integrated, virtual, other, then software where that is
/// allowed; ties by memory, then by index. -1: none.
int best_device(const Instance& instance, bool software_too);

/// Why best_device() found none: nothing listed, only software, or what makes the first one unfit.
std::string why_no_device(const Instance& instance);

/// Device `index`. world_error where it is not there or unfit.
const Physical& usable(int index);

}  // namespace llmtool::vulkan
