// The counting device; see counting_device.h.
#include "device/counting_device.h"

#include <utility>

#include "device/pool.h"

namespace llmtool {

CountingDevice::CountingDevice(const DeviceCaps& caps, const Device* like) : like_(like) {
  name_ = "counting";
  caps_ = caps;
}

CountingDevice::~CountingDevice() { release_pool(); }

std::vector<RecordedLaunch> CountingDevice::take_launches() noexcept { return std::exchange(launches_, {}); }

Block* CountingDevice::do_alloc(std::uint64_t bytes) {
  auto block = std::make_unique<Block>();
  block->bytes = bytes;
  Block* const key = block.get();
  blocks_.emplace(key, std::move(block));
  return key;
}

void CountingDevice::do_free(Block* block) noexcept { blocks_.erase(block); }

void CountingDevice::do_launch(KernelId id, std::span<const View> views, const void* params) {
  const std::uint64_t scratch = like_ == nullptr ? 0 : like_->scratch_bytes(id, views, params);
  if (scratch > 0) pool().give(pool().take(scratch));
  if (!recording_) return;
  RecordedLaunch launch;
  launch.id = id;
  for (const View& view : views) {
    launch.views.push_back(view ? RecordedView{view.block->id, view.offset, view.bytes, view.dtype}
                                : RecordedView{});
  }
  const auto* first = static_cast<const std::byte*>(params);
  launch.params.assign(first, first + kernel_info(id).params_bytes);
  launches_.push_back(std::move(launch));
}

}  // namespace llmtool
