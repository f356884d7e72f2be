// Results of Vulkan as errors; see api.h. The loader itself is volk, compiled here.
#define VOLK_IMPLEMENTATION
#include "vulkan/api.h"

#include "base/error.h"

namespace llmtool::vulkan {

std::string name_of(VkResult result) {
  switch (result) {
#define LLMTOOL_NAME(name) \
  case name:               \
    return #name;
    LLMTOOL_NAME(VK_SUCCESS)
    LLMTOOL_NAME(VK_TIMEOUT)
    LLMTOOL_NAME(VK_INCOMPLETE)
    LLMTOOL_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    LLMTOOL_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    LLMTOOL_NAME(VK_ERROR_INITIALIZATION_FAILED)
    LLMTOOL_NAME(VK_ERROR_DEVICE_LOST)
    LLMTOOL_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    LLMTOOL_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    LLMTOOL_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    LLMTOOL_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    LLMTOOL_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    LLMTOOL_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    LLMTOOL_NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
    LLMTOOL_NAME(VK_ERROR_FRAGMENTED_POOL)
    LLMTOOL_NAME(VK_ERROR_UNKNOWN)
#undef LLMTOOL_NAME
    default:
      return cat("VkResult ", static_cast<int>(result));
  }
}

void check(VkResult result, std::string_view what) {
  if (result == VK_SUCCESS) return;
  const std::string line = cat("[vulkan] ", what, " failed: ", name_of(result));
  switch (result) {
    case VK_ERROR_DEVICE_LOST:
      throw world_error(line,
                        "the driver gave the device up; if it happens again, lower batch_size or block_size, "
                        "or use --device cpu");
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      throw world_error(line, "lower batch_size, block_size, n_embd or n_layer, or use --device cpu");
    default:
      throw world_error(line, "use --device cpu");
  }
}

}  // namespace llmtool::vulkan
