// A GPU as a Device, and which one. Not here: how launches become dispatches (plan.h), how those are recorded
// and sent (recorder.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace llmtool {

/// One line of `llmtool devices`.
struct VulkanInfo {
  std::string name;    ///< As the driver gives it.
  std::string kind;    ///< discrete, integrated, virtual, software, other.
  std::string driver;  ///< Name and version.
  std::uint64_t memory_bytes = 0;
  bool fp16 = false;          ///< 16-bit floats in arithmetic.
  bool bf16 = false;          ///< 16-bit brain floats in arithmetic.
  bool matrix_units = false;  ///< Cooperative matrices are offered.
  std::string unfit;          ///< Why it cannot be used; empty if it can.
};

struct VulkanListing {
  std::vector<VulkanInfo> devices;  ///< Index N is what vulkan:N means.
  std::string why_none;             ///< Where there is no device: no loader, no driver, nothing listed.
  std::shared_ptr<void> instance;   ///< Kept, so that a device opened while this lives needs no second one.
  int best = -1;                    ///< Of the real ones, by kind and memory: what `auto` tries; -1: none.
};

/// What is there. Never throws for what the machine lacks; request_error for an environment variable
/// (environment.h) with a wrong value.
VulkanListing list_vulkan_devices();

/// Device `index` of the listing. world_error where it is not there, is unfit or fails.
std::unique_ptr<Device> make_vulkan_device(int index);

/// The best device, software drivers last. world_error where there is none.
std::unique_ptr<Device> make_vulkan_device();

/// For `auto`: the best real device that passes the self-test; null with the reason where there is none. The
/// reason names the first device that was passed over. request_error as list_vulkan_devices().
std::unique_ptr<Device> try_vulkan_device(std::string& why_not);

/// Messages of the validation layer in this process so far, where LLMTOOL_VK_VALIDATE=1 turned it on.
std::uint64_t validation_messages() noexcept;

}  // namespace llmtool
