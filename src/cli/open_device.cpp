// From a device's name to the device: the one file above the devices that names them.
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "cli/common_flags.h"
#include "cpu/cpu_device.h"

namespace llmtool {

namespace {

bool is_vulkan_name(const std::string& name) {
  if (name == "vulkan") return true;
  constexpr std::string_view prefix = "vulkan:";
  return name.starts_with(prefix) && name.size() > prefix.size() && name.size() < prefix.size() + 4 &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

}  // namespace

void check_device_name(const std::string& name) {
  if (name == "auto" || name == "cpu") return;
  if (!is_vulkan_name(name))
    throw request_error(cat("device '", name, "' is not known; expected auto, cpu, vulkan or vulkan:N"));
}

std::unique_ptr<Device> open_device(const std::string& name, std::int64_t threads) {
  check_device_name(name);
  if (is_vulkan_name(name))
    throw world_error(cat("device '", name, "': this build has no Vulkan devices"),
                      "use --device cpu or --device auto");
  auto device = make_cpu_device(threads > 0 ? static_cast<int>(threads) : available_cores());
  if (name == "auto")
    note(cat("device: cpu (", device->caps().simd, ", ", device->caps().threads,
             device->caps().threads == 1 ? " thread" : " threads",
             "), since this build has no Vulkan devices"));
  return device;
}

}  // namespace llmtool
