// One logical device: its queue, its limits and its memory. Everything made from it goes before it does. Not
// here: what is recorded (recorder.h), pipelines (pipelines.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "vulkan/environment.h"
#include "vulkan/instance.h"
#include "vulkan/plan.h"

namespace llmtool::vulkan {

/// A buffer with memory of its own. Moves; frees itself.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer();

  VkBuffer handle() const noexcept { return buffer_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::byte* host() const noexcept { return host_; }  ///< Mapped, or null.
  /// Host writes become visible to the device; device writes to the host.
  void flush(std::uint64_t offset, std::uint64_t bytes) const;
  void invalidate(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  friend class Gpu;
  void swap(Buffer& other) noexcept;

  VkDevice device_ = VK_NULL_HANDLE;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::uint64_t bytes_ = 0, atom_ = 1, memory_bytes_ = 0;
  std::byte* host_ = nullptr;
  bool coherent_ = true;
};

enum class MemoryUse { device, upload, readback };

class Gpu {
 public:
  /// world_error where the driver refuses.
  Gpu(std::shared_ptr<Instance> instance, const Physical& physical);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  VkDevice device() const noexcept { return device_; }
  VkQueue queue() const noexcept { return queue_; }
  std::uint32_t queue_family() const noexcept { return family_; }
  const Instance& instance() const noexcept { return *instance_; }
  const Physical& physical() const noexcept { return physical_; }
  const Environment& environment() const noexcept { return environment_; }
  const Limits& limits() const noexcept { return limits_; }
  double timestamp_ns() const noexcept {
    return timestamp_ns_;
  }  ///< Of one tick; 0: there are no timestamps.
  std::uint64_t max_buffer_bytes() const noexcept { return max_buffer_; }
  /// Usual size of a memory block, by the size of the heap.
  std::uint64_t block_bytes() const noexcept;
  /// What may still be allocated on the device: the driver's budget, or 90 % of the heap.
  std::uint64_t free_bytes() const;

  /// world_error where there is no memory.
  Buffer make_buffer(std::uint64_t bytes, MemoryUse use) const;

 private:
  void choose_queue();
  void make_device();
  void read_limits();
  std::uint32_t memory_type(std::uint32_t allowed, MemoryUse use) const;

  std::shared_ptr<Instance> instance_;
  Physical physical_;
  Environment environment_;
  Limits limits_;
  VkPhysicalDeviceMemoryProperties memory_{};
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t family_ = 0;
  std::uint64_t max_buffer_ = 0, atom_ = 1;
  double timestamp_ns_ = 0;
  bool has_budget_ = false;
};

}  // namespace llmtool::vulkan
