// The loader, the instance and the physical devices it shows. Not here: which device is taken (choose.h), and
// what is done with it (gpu.h).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/api.h"

namespace llmtool::vulkan {

/// One physical device.
struct Physical {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name;
  std::string driver;  ///< Name and version, as the driver gives them.
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  std::uint32_t api_version = 0;
  std::array<std::uint8_t, VK_UUID_SIZE> uuid{};
  std::uint64_t memory_bytes = 0;  ///< Largest device-local heap.
  std::string unfit;               ///< Why it cannot be used, empty if it can.

  bool software() const noexcept { return type == VK_PHYSICAL_DEVICE_TYPE_CPU; }
};

/// Whether the device offers an extension.
bool offers(VkPhysicalDevice device, const char* extension);

class Instance {
 public:
  /// The process's instance, made at the first call and again after the last owner let it go. world_error
  /// with the reason where there is no loader or no driver.
  static std::shared_ptr<Instance> get();
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const noexcept { return handle_; }
  /// In the loader's order, each device once (by UUID).
  const std::vector<Physical>& devices() const noexcept { return devices_; }
  /// Messages of the validation layer in this process so far; it runs where LLMTOOL_VK_VALIDATE is set.
  static std::uint64_t validation_messages() noexcept;

 private:
  Instance();
  void find_devices();

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::vector<Physical> devices_;
};

}  // namespace llmtool::vulkan
