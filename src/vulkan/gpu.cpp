// Making a logical device and its memory; see gpu.h.
#include "vulkan/gpu.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"

namespace llmtool::vulkan {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Gpu::Gpu(std::shared_ptr<Instance> instance, const Physical& physical)
    : instance_(std::move(instance)), physical_(physical), environment_(read_environment()) {
  vkGetPhysicalDeviceMemoryProperties(physical_.handle, &memory_);
  choose_queue();
  make_device();
  read_limits();
}

Gpu::~Gpu() {
  if (device_ != VK_NULL_HANDLE) vkDestroyDevice(device_, nullptr);
}

/// A family that computes; one that also draws is taken where there is none that does not. Timestamps decide
/// between equals.
void Gpu::choose_queue() {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_.handle, &count, families.data());
  int best = -1;
  std::uint32_t timestamp_bits = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFamilyProperties& family = families[i];
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    // The family that draws is the one drivers test best, and its queue is never throttled.
    const int score =
        ((family.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0 ? 2 : 1) + (family.timestampValidBits != 0 ? 4 : 0);
    if (score <= best) continue;
    best = score;
    family_ = i;
    timestamp_bits = family.timestampValidBits;
  }
  if (best < 0) throw world_error(cat("[vulkan] ", physical_.name, " has no queue that computes"));
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical_.handle, &properties);
  if (timestamp_bits >= 36) timestamp_ns_ = static_cast<double>(properties.limits.timestampPeriod);
}

void Gpu::make_device() {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan12Features features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features.timelineSemaphore = VK_TRUE;
  has_budget_ = offers(physical_.handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  const char* const extension = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = has_budget_ ? 1 : 0;
  info.ppEnabledExtensionNames = &extension;
  check(vkCreateDevice(physical_.handle, &info, nullptr, &device_), "making the device");
  vkGetDeviceQueue(device_, family_, 0, &queue_);
}

void Gpu::read_limits() {
  VkPhysicalDeviceMaintenance3Properties maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &maintenance;
  vkGetPhysicalDeviceProperties2(physical_.handle, &properties);
  const VkPhysicalDeviceLimits& given = properties.properties.limits;
  limits_.max_range = given.maxStorageBufferRange;
  limits_.offset_alignment =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(4, given.minStorageBufferOffsetAlignment));
  limits_.max_shared = given.maxComputeSharedMemorySize;
  limits_.max_invocations = std::min(given.maxComputeWorkGroupInvocations, given.maxComputeWorkGroupSize[0]);
  limits_.max_groups = std::min({given.maxComputeWorkGroupCount[0], given.maxComputeWorkGroupCount[1],
                                 given.maxComputeWorkGroupCount[2]});
  atom_ = std::max<std::uint64_t>(1, given.nonCoherentAtomSize);
  // Element numbers are 32-bit words in the shaders.
  max_buffer_ = std::min<std::uint64_t>(maintenance.maxMemoryAllocationSize, std::uint64_t{4} << 30);
  if (environment_.max_range != 0) limits_.max_range = std::min(limits_.max_range, environment_.max_range);
  if (environment_.max_shared != 0)
    limits_.max_shared = std::min(limits_.max_shared, environment_.max_shared);
  if (environment_.max_invocations != 0)
    limits_.max_invocations = std::min(limits_.max_invocations, environment_.max_invocations);
}

std::uint64_t Gpu::block_bytes() const noexcept {
  const std::uint64_t heap = physical_.memory_bytes, mib = std::uint64_t{1} << 20;
  const std::uint64_t usual = heap < 4096 * mib ? 64 * mib : heap < 32768 * mib ? 256 * mib : 1024 * mib;
  return std::max<std::uint64_t>(mib, std::min({usual, max_buffer_, heap / 8}));
}

std::uint64_t Gpu::free_bytes() const {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  memory.pNext = has_budget_ ? &budget : nullptr;
  vkGetPhysicalDeviceMemoryProperties2(physical_.handle, &memory);
  const std::uint32_t heap = memory_.memoryTypes[memory_type(~0u, MemoryUse::device)].heapIndex;
  std::uint64_t bytes = memory_.memoryHeaps[heap].size / 10 * 9;
  if (has_budget_) {
    const std::uint64_t all = budget.heapBudget[heap], used = budget.heapUsage[heap];
    bytes = std::min(memory_.memoryHeaps[heap].size, all > used ? all - used : 0);
  }
  return environment_.max_memory != 0 ? std::min(bytes, environment_.max_memory) : bytes;
}

/// The type with the most wanted and the fewest unwanted properties.
std::uint32_t Gpu::memory_type(std::uint32_t allowed, MemoryUse use) const {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  constexpr VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  int best = -1;
  std::uint32_t chosen = 0;
  for (std::uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory_.memoryTypes[i].propertyFlags;
    const bool protected_memory = (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) != 0;
    if ((allowed >> i & 1u) == 0 || protected_memory) continue;
    if (use != MemoryUse::device && (flags & visible) == 0) continue;
    const auto has = [flags](VkMemoryPropertyFlags flag) { return (flags & flag) != 0 ? 1 : 0; };
    int score = 0;
    if (use == MemoryUse::device) score = 4 * has(local) + (2 - has(visible) - has(cached));
    if (use == MemoryUse::upload) score = 4 * has(coherent) + 2 * (1 - has(cached)) + (1 - has(local));
    if (use == MemoryUse::readback) score = 4 * has(cached) + 2 * has(coherent) + (1 - has(local));
    if (score <= best) continue;
    best = score;
    chosen = i;
  }
  if (best < 0) throw world_error(cat("[vulkan] ", physical_.name, " has no memory for this use"));
  return chosen;
}

Buffer Gpu::make_buffer(std::uint64_t bytes, MemoryUse use) const {
  Buffer b;
  b.device_ = device_;
  b.bytes_ = bytes;
  b.atom_ = atom_;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (use == MemoryUse::device) info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  const std::string what = cat("a buffer of ", bytes, " bytes (", free_bytes(), " are free)");
  check(vkCreateBuffer(device_, &info, nullptr, &b.buffer_), what);
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, b.buffer_, &needs);
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = memory_type(needs.memoryTypeBits, use);
  check(vkAllocateMemory(device_, &allocation, nullptr, &b.memory_), what);
  b.memory_bytes_ = needs.size;
  check(vkBindBufferMemory(device_, b.buffer_, b.memory_, 0), what);
  if (use != MemoryUse::device) {
    const VkMemoryPropertyFlags flags = memory_.memoryTypes[allocation.memoryTypeIndex].propertyFlags;
    b.coherent_ = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    void* host = nullptr;
    check(vkMapMemory(device_, b.memory_, 0, VK_WHOLE_SIZE, 0, &host), "mapping memory");
    b.host_ = static_cast<std::byte*>(host);
  }
  return b;
}

Buffer::~Buffer() {
  if (buffer_ != VK_NULL_HANDLE) vkDestroyBuffer(device_, buffer_, nullptr);
  if (memory_ != VK_NULL_HANDLE) vkFreeMemory(device_, memory_, nullptr);  // unmaps
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(buffer_, other.buffer_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(atom_, other.atom_);
  std::swap(memory_bytes_, other.memory_bytes_);
  std::swap(host_, other.host_);
  std::swap(coherent_, other.coherent_);
}

namespace {

/// Whole atoms around a range, inside the memory.
VkMappedMemoryRange atoms(VkDeviceMemory memory, std::uint64_t offset, std::uint64_t bytes,
                          std::uint64_t atom, std::uint64_t limit) {
  VkMappedMemoryRange range{};
  range.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE;
  range.memory = memory;
  range.offset = offset / atom * atom;
  range.size = std::min(round_up(offset + bytes, atom), limit) - range.offset;
  return range;
}

}  // namespace

void Buffer::flush(std::uint64_t offset, std::uint64_t bytes) const {
  if (coherent_ || bytes == 0) return;
  const VkMappedMemoryRange range = atoms(memory_, offset, bytes, atom_, memory_bytes_);
  check(vkFlushMappedMemoryRanges(device_, 1, &range), "flushing memory");
}

void Buffer::invalidate(std::uint64_t offset, std::uint64_t bytes) const {
  if (coherent_ || bytes == 0) return;
  const VkMappedMemoryRange range = atoms(memory_, offset, bytes, atom_, memory_bytes_);
  check(vkInvalidateMappedMemoryRanges(device_, 1, &range), "reading memory");
}

}  // namespace llmtool::vulkan
