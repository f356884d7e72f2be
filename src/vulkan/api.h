// The Vulkan functions, loaded at run time (nothing is linked), and results turned into errors. Not here: any
// object of Vulkan.
#pragma once
#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string>
#include <string_view>

namespace llmtool::vulkan {

/// "VK_ERROR_DEVICE_LOST" and so on; the number where the name is not known.
std::string name_of(VkResult result);

/// Throws a world_error that says what failed and, for lost devices and memory, what to do, unless
/// VK_SUCCESS.
void check(VkResult result, std::string_view what);

}  // namespace llmtool::vulkan
