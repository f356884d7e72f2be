// Recording: dispatches, copies and host traffic into the commands of a slot; see recorder.h. Not here:
// sending them (recorder_submit.cpp).
#include "vulkan/recorder.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace llmtool::vulkan {
namespace {

constexpr std::uint64_t staged_at_once = std::uint64_t{16} << 20;  ///< Largest piece of an upload.
constexpr std::uint64_t staged_most = std::uint64_t{64} << 20;     ///< Host memory a submission may hold.

VkBuffer buffer_of(const View& view) { return static_cast<const DeviceBlock*>(view.block)->buffer.handle(); }

Touch touch(const View& view, bool writes) {
  return {view.block->id, view.offset, view.offset + view.bytes, writes};
}

/// What is bound where an argument was left out: part 0 where it is read, the others in turn where it could
/// be written.
constexpr std::uint32_t spare_parts = 1024;
std::uint32_t spare_bytes(const Limits& limits) { return std::max(256u, limits.offset_alignment); }

}  // namespace

Recorder::Recorder(const Gpu& gpu)
    : gpu_(gpu),
      pipelines_(gpu),
      spare_(gpu.make_buffer(spare_parts * spare_bytes(gpu.limits()), MemoryUse::device)) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  check(vkCreateSemaphore(gpu.device(), &info, nullptr, &timeline_), "making a semaphore");
  for (auto& slot : slots_) slot = std::make_unique<Slot>(gpu, pipelines_.set_layout());
  if (gpu.environment().submit_ms != 0) budget_seconds_ = gpu.environment().submit_ms * 1e-3;
}

Recorder::~Recorder() {
  settle();
  for (auto& slot : slots_) slot.reset();
  vkDestroySemaphore(gpu_.device(), timeline_, nullptr);
}

void Recorder::require_sound() const { check(failed_, "an earlier submission"); }

Slot& Recorder::open() {
  require_sound();
  if (slot_ == nullptr) {
    const std::size_t index = submitted_ % slots_.size();
    Slot& slot = *slots_[index];
    if (slot.value != 0) {
      await(slot.value);
      finish(slot);
    }
    slot.reset();
    slot_ = &slot;
    commands_ = slot.begin();
    bound_ = VK_NULL_HANDLE;
    slot.whole = slot.times(commands_);
    if (slot.whole.pool != VK_NULL_HANDLE)
      vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, slot.whole.pool, slot.whole.first);
  }
  return *slot_;
}

void Recorder::all_barrier(VkCommandBuffer commands, VkPipelineStageFlags to, VkAccessFlags access) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = access;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, to, 0,
                       1, &barrier, 0, nullptr, 0, nullptr);
}

void Recorder::barrier_if(bool needed) {
  if (!needed) return;
  all_barrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
              VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                  VK_ACCESS_TRANSFER_WRITE_BIT);
  ++barriers_;
}

/// A guess good enough to cut by: a slow integrated device, corrected by what submissions really took.
double Recorder::seconds_of(const Dispatch& d) const noexcept {
  const double flops = gpu_.physical().software() ? 1e9 : 5e11,
               bytes = gpu_.physical().software() ? 2e9 : 3e10;
  return slowness_ * (std::max(d.flops / flops, d.bytes / bytes) + 2e-6);
}

void Recorder::dispatch(const Dispatch& d) {
  const double seconds = seconds_of(d);
  if (slot_ != nullptr && segment_seconds_ > 0 && segment_seconds_ + seconds > budget_seconds_) cut();
  segment_seconds_ += seconds;
  Slot& slot = open();
  slot.estimate += seconds / slowness_;

  std::vector<Touch> touches;
  std::array<VkDescriptorBufferInfo, max_bindings> buffers{};
  std::array<VkWriteDescriptorSet, max_bindings> writes{};
  const VkDescriptorSet set = slot.descriptor_set();
  Placement placement{};
  const std::uint64_t unit = gpu_.limits().offset_alignment;
  LLMTOOL_CHECK(d.views.size() <= max_bindings && d.views.size() == d.accesses.size(), d.shader, ": ",
                d.views.size(), " views, accesses ", d.accesses);
  for (std::size_t i = 0; i < d.views.size(); ++i) {
    const View& view = d.views[i];
    // Parts in turn for what a shader may write: one that could be read without a barrier would count as a
    // hazard.
    const bool writes_to = d.accesses[i] != 'R' && d.accesses[i] != 'r';
    if (!view && writes_to) spare_part_ = spare_part_ % (spare_parts - 1) + 1;
    buffers[i] = {spare_.handle(), writes_to ? spare_part_ * spare_bytes(gpu_.limits()) : 0, 16};
    if (view) {
      const std::uint64_t begin = view.offset / unit * unit, shift = view.offset - begin;
      buffers[i] = {buffer_of(view), begin, shift + view.bytes};
      LLMTOOL_CHECK(buffers[i].range <= gpu_.limits().max_range, d.shader, ": argument ", i, " binds ",
                    buffers[i].range, " bytes, the limit is ", gpu_.limits().max_range);
      placement.shift[i / 4] |= static_cast<std::uint32_t>(shift / 4) << (8 * (i % 4));
      placement.present |= 1u << i;
      // What is bound, not what is touched: validation sees no more than that.
      touches.push_back(touch({view.block, begin, shift + view.bytes, view.dtype}, writes_to));
    }
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = static_cast<std::uint32_t>(i);
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &buffers[i];
  }
  std::copy(d.window.begin(), d.window.end(), placement.window);
  vkUpdateDescriptorSets(gpu_.device(), static_cast<std::uint32_t>(d.views.size()), writes.data(), 0,
                         nullptr);

  const bool hazard = hazards_.record(touches);
  barrier_if(hazard || profiling_);
  if (const VkPipeline pipeline = pipelines_.get(d.shader, d.constants); pipeline != bound_) {
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    bound_ = pipeline;
  }
  vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1, &set, 0,
                          nullptr);
  std::array<std::byte, push_bytes> push{};
  std::memcpy(push.data(), d.params.data(), d.params.size());
  std::memcpy(push.data() + d.params.size(), &placement, sizeof placement);
  vkCmdPushConstants(commands_, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes, push.data());
  Slot::Timed timed{d.shader, profiling_ ? slot.times(commands_) : Slot::Times{}, d.flops, d.bytes};
  const bool takes_time = timed.times.pool != VK_NULL_HANDLE;
  if (takes_time)
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, timed.times.pool, timed.times.first);
  vkCmdDispatch(commands_, d.groups[0], d.groups[1], d.groups[2]);
  if (takes_time) {
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, timed.times.pool,
                        timed.times.first + 1);
    slot.timed.push_back(timed);
  }
}

void Recorder::copy(const View& src, const View& dst) {
  open();
  const std::array<Touch, 2> touches{touch(src, false), touch(dst, true)};
  barrier_if(hazards_.record(touches));
  const VkBufferCopy region{src.offset, dst.offset, src.bytes};
  vkCmdCopyBuffer(commands_, buffer_of(src), buffer_of(dst), 1, &region);
}

void Recorder::fill(const View& dst, std::uint32_t pattern) {
  open();
  const Touch written = touch(dst, true);
  barrier_if(hazards_.record({&written, 1}));
  vkCmdFillBuffer(commands_, buffer_of(dst), dst.offset, dst.bytes, pattern);
}

void Recorder::stage(const View& dst, std::span<const std::byte> bytes) {
  open();
  const Touch written = touch(dst, true);
  barrier_if(hazards_.record({&written, 1}));
  for (std::uint64_t done = 0; done < bytes.size();) {
    const std::uint64_t count = std::min<std::uint64_t>(bytes.size() - done, staged_at_once);
    if (slot_->upload.used() + count > staged_most) {  // loading a model, not a step
      cut();
      await(next_value_);
      slot_->upload.reset();
    }
    const HostRing::Piece piece = slot_->upload.take(count);
    std::memcpy(piece.host(), bytes.data() + done, count);
    const VkBufferCopy region{piece.offset, dst.offset + done, count};
    vkCmdCopyBuffer(commands_, piece.buffer->handle(), buffer_of(dst), 1, &region);
    done += count;
  }
}

void Recorder::fetch(const View& src, FetchedPtr fetched, std::span<std::byte> to) {
  Slot& slot = open();
  const Touch read = touch(src, false);
  barrier_if(hazards_.record({&read, 1}));
  Slot::PendingFetch pending{std::move(fetched), to, {}};
  for (std::uint64_t done = 0; done < src.bytes;) {
    const std::uint64_t count = std::min<std::uint64_t>(src.bytes - done, staged_at_once);
    const HostRing::Piece piece = slot.readback.take(count);
    const VkBufferCopy region{src.offset + done, piece.offset, count};
    vkCmdCopyBuffer(commands_, buffer_of(src), piece.buffer->handle(), 1, &region);
    pending.from.emplace_back(piece, count);
    done += count;
  }
  slot.fetches.push_back(std::move(pending));
}

}  // namespace llmtool::vulkan
