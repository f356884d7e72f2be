// Choosing and listing devices; see choose.h and vulkan_device.h.
#include "vulkan/choose.h"

#include <cstring>

#include "base/error.h"
#include "vulkan/vulkan_device.h"

namespace llmtool {
namespace vulkan {
namespace {

/// Lower is better.
int rank_of(const Physical& p) noexcept {
  switch (p.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 4;
    default:
      return 3;
  }
}

const char* kind_of(const Physical& p) noexcept {
  constexpr const char* kinds[] = {"discrete", "integrated", "virtual", "other", "software"};
  return kinds[rank_of(p)];
}

}  // namespace

int best_device(const Instance& instance, bool software_too) {
  int best = -1;
  const auto& devices = instance.devices();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Physical& p = devices[i];
    if (!p.unfit.empty() || (p.software() && !software_too)) continue;
    const Physical* const other = best < 0 ? nullptr : &devices[static_cast<std::size_t>(best)];
    const bool better = other == nullptr || rank_of(p) < rank_of(*other) ||
                        (rank_of(p) == rank_of(*other) && p.memory_bytes > other->memory_bytes);
    if (better) best = static_cast<int>(i);
  }
  return best;
}

std::string why_no_device(const Instance& instance) {
  const auto& devices = instance.devices();
  if (devices.empty()) return "no Vulkan driver shows a device";
  for (const Physical& p : devices) {
    if (!p.software()) return cat(p.name, " cannot be used: ", p.unfit);
  }
  if (devices.front().unfit.empty())
    return cat("the only Vulkan device is a software driver, ", devices.front().name);
  return cat(devices.front().name, " cannot be used: ", devices.front().unfit);
}

const Physical& usable(int index) {
  const auto instance = Instance::get();
  const auto& devices = instance->devices();
  if (index < 0 || static_cast<std::size_t>(index) >= devices.size()) {
    throw world_error(
        devices.empty()
            ? cat("[vulkan] there is no device vulkan:", index, ": ", why_no_device(*instance))
            : cat("[vulkan] there is no device vulkan:", index, "; the last is vulkan:", devices.size() - 1),
        "llmtool devices lists what there is");
  }
  const Physical& p = devices[static_cast<std::size_t>(index)];
  if (!p.unfit.empty())
    throw world_error(cat("[vulkan] ", p.name, " cannot be used: ", p.unfit), "use --device cpu");
  return p;
}

namespace {

VulkanInfo info_of(const Physical& p) {
  VulkanInfo info{p.name, kind_of(p), p.driver, p.memory_bytes, false, false, false, p.unfit};
  if (p.api_version < VK_API_VERSION_1_2) return info;
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  vkGetPhysicalDeviceFeatures2(p.handle, &features);
  info.fp16 = features12.shaderFloat16 == VK_TRUE;
  info.bf16 = offers(p.handle, "VK_KHR_shader_bfloat16");
  info.matrix_units = offers(p.handle, "VK_KHR_cooperative_matrix");
  return info;
}

}  // namespace
}  // namespace vulkan

VulkanListing list_vulkan_devices() {
  VulkanListing listing;
  try {
    const auto instance = vulkan::Instance::get();
    for (const vulkan::Physical& p : instance->devices()) listing.devices.push_back(vulkan::info_of(p));
    listing.instance = instance;
    listing.best = vulkan::best_device(*instance, false);
    if (listing.devices.empty()) listing.why_none = vulkan::why_no_device(*instance);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::request) throw;
    listing.why_none = error.what();
  }
  return listing;
}

}  // namespace llmtool
