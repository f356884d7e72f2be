// Making and reusing what a submission needs; see slot.h.
#include "vulkan/slot.h"

#include <array>

#include "vulkan/pipelines.h"

namespace llmtool::vulkan {
namespace {
constexpr std::uint32_t sets_per_pool = 512;
constexpr std::uint32_t queries_per_pool = 1024;
}  // namespace

Slot::Slot(const Gpu& gpu, VkDescriptorSetLayout layout)
    : upload(gpu, MemoryUse::upload), readback(gpu, MemoryUse::readback), gpu_(gpu), layout_(layout) {
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  info.queueFamilyIndex = gpu.queue_family();
  check(vkCreateCommandPool(gpu.device(), &info, nullptr, &commands_), "making a command pool");
}

Slot::~Slot() {
  for (const VkQueryPool pool : queries_) vkDestroyQueryPool(gpu_.device(), pool, nullptr);
  for (const VkDescriptorPool pool : sets_) vkDestroyDescriptorPool(gpu_.device(), pool, nullptr);
  vkDestroyCommandPool(gpu_.device(), commands_, nullptr);
}

void Slot::reset() {
  check(vkResetCommandPool(gpu_.device(), commands_, 0), "resetting commands");
  for (const VkDescriptorPool pool : sets_)
    check(vkResetDescriptorPool(gpu_.device(), pool, 0), "resetting sets");
  buffers_used_ = sets_used_ = queries_used_ = 0;
  upload.reset();
  readback.reset();
  fetches.clear();
  timed.clear();
  whole = {};
  estimate = 0;
  value = 0;
}

VkCommandBuffer Slot::begin() {
  if (buffers_used_ == buffers_.size()) {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = commands_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(gpu_.device(), &info, &made), "making a command buffer");
    buffers_.push_back(made);
  }
  const VkCommandBuffer buffer = buffers_[buffers_used_++];
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(buffer, &info), "beginning commands");
  return buffer;
}

VkDescriptorSet Slot::descriptor_set() {
  const std::size_t pool = sets_used_ / sets_per_pool;
  if (pool == sets_.size()) {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, sets_per_pool * max_bindings};
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = sets_per_pool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    VkDescriptorPool made = VK_NULL_HANDLE;
    check(vkCreateDescriptorPool(gpu_.device(), &info, nullptr, &made), "making a descriptor pool");
    sets_.push_back(made);
  }
  ++sets_used_;
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = sets_[pool];
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout_;
  VkDescriptorSet set = VK_NULL_HANDLE;
  check(vkAllocateDescriptorSets(gpu_.device(), &info, &set), "making a descriptor set");
  return set;
}

Slot::Times Slot::times(VkCommandBuffer commands) {
  if (gpu_.timestamp_ns() == 0) return {};
  const std::size_t pool = queries_used_ / queries_per_pool;
  const std::uint32_t first = static_cast<std::uint32_t>(queries_used_ % queries_per_pool);
  if (pool == queries_.size()) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = queries_per_pool;
    VkQueryPool made = VK_NULL_HANDLE;
    check(vkCreateQueryPool(gpu_.device(), &info, nullptr, &made), "making a query pool");
    queries_.push_back(made);
  }
  if (first == 0) vkCmdResetQueryPool(commands, queries_[pool], 0, queries_per_pool);
  queries_used_ += 2;
  return {queries_[pool], first};
}

double Slot::elapsed_ns(const Times& times) const {
  if (times.pool == VK_NULL_HANDLE) return 0;
  std::array<std::uint64_t, 2> ticks{};
  const VkResult result = vkGetQueryPoolResults(gpu_.device(), times.pool, times.first, 2, sizeof ticks,
                                                ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS || ticks[1] < ticks[0]) return 0;
  return static_cast<double>(ticks[1] - ticks[0]) * gpu_.timestamp_ns();
}

}  // namespace llmtool::vulkan
