// One of the three places where a submission is recorded: its command buffers, descriptor sets, host memory
// and times. Used again only when the device is done with it. Not here: what is recorded (recorder.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "vulkan/host_ring.h"

namespace llmtool::vulkan {

class Slot {
 public:
  Slot(const Gpu& gpu, VkDescriptorSetLayout layout);
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  /// Everything of the last use is free again. The device must be done with it.
  void reset();
  /// The next command buffer, begun.
  VkCommandBuffer begin();
  VkDescriptorSet descriptor_set();
  /// Number of the next of two timestamps in pool(); pools of 1024.
  struct Times {
    VkQueryPool pool = VK_NULL_HANDLE;
    std::uint32_t first = 0;
  };
  Times times(VkCommandBuffer commands);
  /// Nanoseconds between the two; 0 where there are none.
  double elapsed_ns(const Times& times) const;

  HostRing upload, readback;
  std::uint64_t value = 0;  ///< Of the timeline, when the device is done; 0: not in use.

  struct PendingFetch {
    FetchedPtr fetched;
    std::span<std::byte> to;
    std::vector<std::pair<HostRing::Piece, std::uint64_t>> from;  ///< Pieces and their bytes.
  };
  std::vector<PendingFetch> fetches;

  struct Timed {
    std::string_view kernel;
    Times times;
    double flops = 0, bytes = 0;
  };
  std::vector<Timed> timed;  ///< When profiling: every dispatch.
  Times whole;               ///< First and last moment of the submission.
  double estimate = 0;       ///< Seconds it was thought to take.

 private:
  const Gpu& gpu_;
  VkDescriptorSetLayout layout_;
  VkCommandPool commands_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> buffers_;
  std::size_t buffers_used_ = 0;
  std::vector<VkDescriptorPool> sets_;
  std::size_t sets_used_ = 0;
  std::vector<VkQueryPool> queries_;
  std::size_t queries_used_ = 0;
};

}  // namespace llmtool::vulkan
