// From a device's name to the device: the one file above the devices that names them.
#include <charconv>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "cli/common_flags.h"
#include "cli/gpus.h"
#include "cpu/cpu_device.h"
#include "vulkan/vulkan_device.h"

namespace llmtool {

namespace {

constexpr std::string_view vulkan_prefix = "vulkan:";

/// N of "vulkan:N", -1 for "vulkan" alone, nothing for other words.
std::optional<int> vulkan_index(const std::string& name) {
  if (name == "vulkan") return -1;
  if (!name.starts_with(vulkan_prefix) || name.size() > vulkan_prefix.size() + 3) return std::nullopt;
  int index = -1;
  const auto [end, error] =
      std::from_chars(name.data() + vulkan_prefix.size(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size() || index < 0) return std::nullopt;
  return index;
}

#ifndef LLMTOOL_VULKAN
constexpr const char* no_vulkan = "this build has no Vulkan devices";
#endif

std::unique_ptr<Device> open_vulkan(const std::string& name, int index) {
  const VulkanListing listing = list_gpus();
  if (listing.devices.empty()) {
    throw world_error(cat("device '", name, "' is not there: ", listing.why_none),
                      "use --device cpu or --device auto");
  }
#ifdef LLMTOOL_VULKAN
  auto device = index < 0 ? make_vulkan_device() : make_vulkan_device(index);
  note(cat("device: ", device->name(), " (", device->caps().description, ")"));
  return device;
#else
  static_cast<void>(index);
  return nullptr;  // the list is empty
#endif
}

/// The best GPU that passes its self-test, or null and why there is none.
std::unique_ptr<Device> try_vulkan(std::string& why_not) {
#ifdef LLMTOOL_VULKAN
  return try_vulkan_device(why_not);
#else
  why_not = no_vulkan;
  return nullptr;
#endif
}

}  // namespace

void check_device_name(const std::string& name) {
  if (name == "auto" || name == "cpu" || vulkan_index(name)) return;
  throw request_error(cat("device '", name, "' is not known; expected auto, cpu, vulkan or vulkan:N"));
}

std::unique_ptr<Device> open_device(const std::string& name, std::int64_t threads) {
  check_device_name(name);
  if (const auto index = vulkan_index(name)) return open_vulkan(name, *index);
  std::string why_not;
  if (name == "auto") {
    if (auto device = try_vulkan(why_not)) {
      note(
          cat("device: ", device->name(), " (", device->caps().description, "), which passed its self-test"));
      return device;
    }
  }
  auto device = make_cpu_device(threads > 0 ? static_cast<int>(threads) : available_cores());
  if (name == "auto") {
    note(cat("device: cpu (", device->caps().simd, ", ", device->caps().threads,
             device->caps().threads == 1 ? " thread" : " threads", "), since ", why_not));
  }
  return device;
}

VulkanListing list_gpus() {
#ifdef LLMTOOL_VULKAN
  return list_vulkan_devices();
#else
  VulkanListing listing;
  listing.why_none = no_vulkan;
  return listing;
#endif
}

}  // namespace llmtool
