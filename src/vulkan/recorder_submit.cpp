// Sending what was recorded, waiting for it and reading what it left; see recorder.h. Not here: recording
// (recorder.cpp).
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "vulkan/recorder.h"

namespace llmtool::vulkan {

void Recorder::send(VkCommandBuffer commands) {
  require_sound();
  failed_ = vkEndCommandBuffer(commands);
  check(failed_, "recording");
  const std::uint64_t value = next_value_ + 1;
  VkTimelineSemaphoreSubmitInfo values{};
  values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &value;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &values;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &timeline_;
  slot_->upload.flush();
  const std::uint64_t lose_after = gpu_.environment().lose_after;
  const bool lose = lose_after != 0 && submitted_ + 1 >= lose_after;
  failed_ = lose ? VK_ERROR_DEVICE_LOST : vkQueueSubmit(gpu_.queue(), 1, &info, VK_NULL_HANDLE);
  check(failed_, "a submission");
  next_value_ = value;
  ++segments_;
  segment_seconds_ = 0;
}

void Recorder::cut() {
  send(commands_);
  commands_ = slot_->begin();
  bound_ = VK_NULL_HANDLE;
}

void Recorder::submit() {
  require_sound();
  if (slot_ != nullptr) {
    Slot& slot = *slot_;
    if (!slot.fetches.empty()) {
      all_barrier(commands_, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    }
    if (slot.whole.pool != VK_NULL_HANDLE)
      vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, slot.whole.pool,
                          slot.whole.first + 1);
    send(commands_);
    slot.value = next_value_;
    slot_ = nullptr;
    commands_ = VK_NULL_HANDLE;
  }
  // A submission without commands is done when those before it are.
  value_of_[submitted_ % slots_.size()] = next_value_;
  ++submitted_;
}

void Recorder::wait(std::uint64_t number) {
  // Older ones than the ring holds were waited for when their slot was used again.
  const std::uint64_t oldest = submitted_ >= slots_.size() ? submitted_ - slots_.size() + 1 : 1;
  if (number < oldest) return;
  const std::uint64_t value = value_of_[(number - 1) % slots_.size()];
  await(value);
  for (auto& slot : slots_) {
    if (slot.get() != slot_ && slot->value != 0 && slot->value <= value) finish(*slot);
  }
}

void Recorder::await(std::uint64_t value) {
  if (value == 0) return;
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  // A segment is meant to take less than a second; a software driver may take minutes.
  constexpr std::uint64_t ten_minutes = 600'000'000'000;
  const VkResult result = vkWaitSemaphores(gpu_.device(), &info, ten_minutes);
  if (result == VK_TIMEOUT) {
    throw world_error(cat("[vulkan] ", gpu_.physical().name, " has not answered for ten minutes"),
                      "lower batch_size or block_size, or use --device cpu");
  }
  if (result != VK_SUCCESS) failed_ = result;
  check(result, "waiting for the device");
}

void Recorder::finish(Slot& slot) {
  for (const Slot::PendingFetch& pending : slot.fetches) {
    std::uint64_t done = 0;
    for (const auto& [piece, bytes] : pending.from) {
      piece.buffer->invalidate(piece.offset, bytes);
      std::memcpy(pending.to.data() + done, piece.host(), bytes);
      done += bytes;
    }
  }
  slot.fetches.clear();
  for (const Slot::Timed& timed : slot.timed) {
    KernelTime& sum = times_[std::string(timed.kernel)];
    ++sum.launches;
    sum.seconds += slot.elapsed_ns(timed.times) * 1e-9;
    sum.flops += timed.flops;
    sum.bytes += timed.bytes;
  }
  slot.timed.clear();
  const double seconds = slot.elapsed_ns(slot.whole) * 1e-9;
  if (seconds > 0 && slot.estimate > 1e-4) {
    slowness_ = std::clamp(0.5 * slowness_ + 0.5 * seconds / slot.estimate, 1e-3, 1e3);
  }
  slot.whole = {};
  slot.value = 0;
}

void Recorder::settle() noexcept {
  if (gpu_.device() != VK_NULL_HANDLE) vkDeviceWaitIdle(gpu_.device());
}

}  // namespace llmtool::vulkan
