// Records dispatches, copies and host traffic in order, puts a barrier where the hazard tracker asks for one,
// and sends them to the queue: three slots in a ring, a timeline semaphore, and submissions cut into segments
// where they would keep the device busy for too long. Not here: which dispatches a kernel is (plan.h).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/hazards.h"
#include "vulkan/pipelines.h"
#include "vulkan/plan.h"
#include "vulkan/slot.h"

namespace llmtool::vulkan {

/// A pool block and the buffer behind it.
struct DeviceBlock final : Block {
  Buffer buffer;
};

class Recorder {
 public:
  explicit Recorder(const Gpu& gpu);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void dispatch(const Dispatch& d);
  void copy(const View& src, const View& dst);
  void fill(const View& dst, std::uint32_t pattern);
  void stage(const View& dst, std::span<const std::byte> bytes);
  void fetch(const View& src, FetchedPtr fetched, std::span<std::byte> to);
  /// Sends what was recorded since the last submit(); submissions count from 1.
  void submit();
  /// Blocks until submission `number` and all before are done, and their fetches filled.
  void wait(std::uint64_t number);
  /// Blocks until nothing that was sent is running. Never throws.
  void settle() noexcept;

  std::uint64_t barriers() const noexcept { return barriers_; }
  std::uint64_t segments() const noexcept { return segments_; }
  /// From now on each dispatch is timed by itself, with a barrier before it.
  void set_profiling(bool on) noexcept { profiling_ = on; }
  /// What was timed so far, by kernel name.
  const KernelTimes& times() const noexcept { return times_; }

 private:
  Slot& open();
  /// After all shaders and transfers so far, before `access` in the stages `to`.
  static void all_barrier(VkCommandBuffer commands, VkPipelineStageFlags to, VkAccessFlags access);
  void barrier_if(bool needed);
  void cut();  ///< Sends the commands so far as a segment of the submission.
  void send(VkCommandBuffer commands);
  void await(std::uint64_t value);
  void finish(Slot& slot);  ///< The device is done with it: fetches and times.
  double seconds_of(const Dispatch& d) const noexcept;
  void require_sound() const;  ///< Throws again what an earlier submission met.

  const Gpu& gpu_;
  Pipelines pipelines_;
  Buffer spare_;  ///< Bound where an argument was left out.
  std::uint32_t spare_part_ = 0;
  std::array<std::unique_ptr<Slot>, 3> slots_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::uint64_t next_value_ = 0;             ///< Last value given to a segment.
  std::uint64_t submitted_ = 0;              ///< Submissions so far.
  std::array<std::uint64_t, 3> value_of_{};  ///< Of the submission in each slot.
  Slot* slot_ = nullptr;                     ///< Being recorded into, or null.
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline bound_ = VK_NULL_HANDLE;
  HazardTracker hazards_;
  double segment_seconds_ = 0;  ///< Estimate of the segment so far.
  double budget_seconds_ = 0.4;
  double slowness_ = 1;  ///< Measured over estimated time.
  bool profiling_ = false;
  VkResult failed_ = VK_SUCCESS;  ///< Of a submission or a wait; nothing is recorded after it.
  std::uint64_t barriers_ = 0, segments_ = 0;
  KernelTimes times_;
};

}  // namespace llmtool::vulkan
