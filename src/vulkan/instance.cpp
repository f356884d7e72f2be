// Making the instance and listing devices; see instance.h.
#include "vulkan/instance.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "vulkan/environment.h"
#include "vulkan/plan.h"

namespace llmtool::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

std::atomic<std::uint64_t> messages = 0;  ///< Drivers and layers may call from any thread.
constexpr const char* use_cpu = "use --device cpu, or auto to take what there is";

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  ++messages;
  try {
    warn(cat("vulkan validation: ", data->pMessage));
  } catch (...) {  // nothing may leave a callback of C code
  }
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  return info;
}

bool has_layer(const char* name) {
  std::uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(), [name](const VkLayerProperties& layer) {
    return std::strcmp(layer.layerName, name) == 0;
  });
}

std::uint64_t largest_local_heap(VkPhysicalDevice device) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(device, &memory);
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) largest = std::max(largest, heap.size);
  }
  return largest;
}

/// Why a device cannot be used, or nothing.
std::string unfitness(VkPhysicalDevice device, const VkPhysicalDeviceProperties& properties) {
  if (properties.apiVersion < VK_API_VERSION_1_2) {
    return cat("it speaks Vulkan ", VK_API_VERSION_MAJOR(properties.apiVersion), ".",
               VK_API_VERSION_MINOR(properties.apiVersion), ", 1.2 is needed");
  }
  // All kernels share one layout of eight buffers; the specification promises four.
  if (properties.limits.maxPerStageDescriptorStorageBuffers < max_bindings) {
    return cat("it binds ", properties.limits.maxPerStageDescriptorStorageBuffers, " storage buffers, ",
               max_bindings, " are needed");
  }
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  vkGetPhysicalDeviceFeatures2(device, &features);
  if (features12.timelineSemaphore != VK_TRUE) return "it has no timeline semaphores";
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  const bool computes = std::any_of(
      families.begin(), families.end(),
      [](const VkQueueFamilyProperties& family) { return (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; });
  return computes ? "" : "it has no queue that computes";
}

Physical describe(VkPhysicalDevice device) {
  Physical p;
  p.handle = device;
  VkPhysicalDeviceProperties plain;
  vkGetPhysicalDeviceProperties(device, &plain);
  p.name = plain.deviceName;
  p.type = plain.deviceType;
  p.api_version = plain.apiVersion;
  p.memory_bytes = largest_local_heap(device);
  p.unfit = unfitness(device, plain);
  if (plain.apiVersion < VK_API_VERSION_1_2) return p;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceIDProperties id{};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  id.pNext = &driver;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &id;
  vkGetPhysicalDeviceProperties2(device, &properties);
  std::copy(std::begin(id.deviceUUID), std::end(id.deviceUUID), p.uuid.begin());
  p.driver = cat(driver.driverName, *driver.driverInfo != '\0' ? " " : "", driver.driverInfo);
  return p;
}

}  // namespace

bool offers(VkPhysicalDevice device, const char* extension) {
  std::uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(), [extension](const VkExtensionProperties& e) {
    return std::strcmp(e.extensionName, extension) == 0;
  });
}

std::shared_ptr<Instance> Instance::get() {
  static std::weak_ptr<Instance> current;
  auto instance = current.lock();
  if (instance == nullptr) {
    instance.reset(new Instance);
    current = instance;
  }
  return instance;
}

Instance::Instance() {
  const bool validate = read_environment().validate;  // first: a wrong value is told with or without a loader
  if (volkInitialize() != VK_SUCCESS)
    throw world_error("there is no Vulkan loader (libvulkan.so.1)", use_cpu);
  if (volkGetInstanceVersion() < VK_API_VERSION_1_2)
    throw world_error("the Vulkan loader is older than 1.2", use_cpu);
  if (validate && !has_layer(validation_layer)) {
    throw world_error(
        cat("LLMTOOL_VK_VALIDATE is set, but the layer ", validation_layer, " is not installed"));
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "llmtool";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  const VkValidationFeatureEnableEXT synchronisation =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.pNext = &messenger;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = &synchronisation;
  const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  if (validate) {
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &validation_layer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  const VkResult made = vkCreateInstance(&info, nullptr, &handle_);
  if (made == VK_ERROR_INCOMPATIBLE_DRIVER) throw world_error("no Vulkan driver is installed", use_cpu);
  if (made != VK_SUCCESS) {
    // The loader gives results of all kinds for what is wrong with its files, "out of memory" among them.
    throw world_error(cat("the Vulkan loader could not make an instance (", name_of(made),
                          "): usually a driver or its JSON file is broken or missing; VK_LOADER_DEBUG=error "
                          "shows which"),
                      use_cpu);
  }
  volkLoadInstance(handle_);
  if (validate)
    check(vkCreateDebugUtilsMessengerEXT(handle_, &messenger, nullptr, &messenger_), "validation");
  find_devices();
}

std::uint64_t Instance::validation_messages() noexcept { return messages; }

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  if (handle_ != VK_NULL_HANDLE) vkDestroyInstance(handle_, nullptr);
}

void Instance::find_devices() {
  std::uint32_t count = 0;
  if (vkEnumeratePhysicalDevices(handle_, &count, nullptr) != VK_SUCCESS) return;  // no device, then
  std::vector<VkPhysicalDevice> handles(count);
  if (vkEnumeratePhysicalDevices(handle_, &count, handles.data()) < 0) return;
  handles.resize(count);
  for (const VkPhysicalDevice handle : handles) {
    Physical p = describe(handle);
    // One card seen through two drivers: the first that can be used stands for it.
    const auto same = std::find_if(devices_.begin(), devices_.end(), [&p](const Physical& other) {
      return p.uuid == other.uuid && p.uuid != std::array<std::uint8_t, VK_UUID_SIZE>{};
    });
    if (same == devices_.end()) {
      devices_.push_back(std::move(p));
    } else if (!same->unfit.empty() && p.unfit.empty()) {
      *same = std::move(p);
    }
  }
}

}  // namespace llmtool::vulkan
