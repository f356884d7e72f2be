// A GPU as a Device: launches are cut, planned and recorded; see vulkan_device.h.
#include "vulkan/vulkan_device.h"

#include <algorithm>
#include <cstring>

#include "device/pool.h"
#include "vulkan/choose.h"
#include "vulkan/planned_launch.h"
#include "vulkan/recorder.h"
#include "vulkan/self_test.h"

namespace llmtool {

using namespace vulkan;

namespace {

Launch launch_of(KernelId id, std::span<const View> views, const void* params) {
  Launch launch;
  launch.id = id;
  launch.views.assign(views.begin(), views.end());
  std::memcpy(launch.params.data(), params, kernel_info(id).params_bytes);
  return launch;
}

class VulkanDevice final : public Device {
 public:
  VulkanDevice(std::shared_ptr<Instance> instance, int index)
      : gpu_(std::move(instance), usable(index)), recorder_(gpu_) {
    name_ = cat("vulkan:", index);
    caps_.max_binding_bytes = gpu_.max_buffer_bytes();
    caps_.block_bytes = gpu_.block_bytes();
    caps_.alignment = std::max<std::uint64_t>(256, gpu_.limits().offset_alignment);
    caps_.memory_bytes = gpu_.free_bytes();
    caps_.description = gpu_.physical().name;
  }
  ~VulkanDevice() override {
    recorder_.settle();
    release_pool();
  }

  void set_profiling(bool on) override { recorder_.set_profiling(on); }
  KernelTimes kernel_times() const override { return recorder_.times(); }
  std::uint64_t scratch_bytes(KernelId id, std::span<const View> views, const void* params) const override {
    return plan_launch(launch_of(id, views, params), gpu_.limits()).scratch_bytes;
  }

 private:
  Block* do_alloc(std::uint64_t bytes) override {
    if (bytes > gpu_.max_buffer_bytes()) {
      throw world_error(cat("[vulkan] one piece of ", bytes, " bytes is needed, ", gpu_.physical().name,
                            " takes ", gpu_.max_buffer_bytes(), " at most"),
                        "lower batch_size, block_size or vocab_size, or use --device cpu");
    }
    auto block = std::make_unique<DeviceBlock>();
    block->buffer = gpu_.make_buffer(bytes, MemoryUse::device);
    block->bytes = bytes;
    return block.release();
  }
  void do_free(Block* block) noexcept override {
    recorder_.settle();
    delete static_cast<DeviceBlock*>(block);
  }
  void do_launch(KernelId id, std::span<const View> views, const void* params) override {
    PlannedLaunch planned = plan_launch(launch_of(id, views, params), gpu_.limits());
    Allocation scratch;
    if (planned.scratch_bytes > 0) {
      scratch = pool().take(planned.scratch_bytes);
      place_scratch(planned, {scratch.block, scratch.offset, scratch.bytes, DType::f32});
      // Whoever takes it next is recorded later, and waits for these dispatches as for any other.
      pool().give(scratch);
    }
    for (const Dispatch& d : planned.dispatches) recorder_.dispatch(d);
    stats_.barriers = recorder_.barriers();
    stats_.segments = recorder_.segments();
  }
  void do_copy(const View& src, const View& dst) override { recorder_.copy(src, dst); }
  void do_fill(const View& dst, std::uint32_t pattern) override { recorder_.fill(dst, pattern); }
  void do_stage(const View& dst, std::span<const std::byte> bytes) override { recorder_.stage(dst, bytes); }
  void do_fetch(const View& src, std::shared_ptr<Fetched> host) override {
    const auto to = writable(*host);
    recorder_.fetch(src, std::move(host), to);
  }
  void do_submit(Ticket) override {
    recorder_.submit();
    stats_.segments = recorder_.segments();
  }
  void do_wait(Ticket ticket) override { recorder_.wait(ticket); }

  Gpu gpu_;
  Recorder recorder_;
};

}  // namespace

std::unique_ptr<Device> make_vulkan_device(int index) {
  return std::make_unique<VulkanDevice>(Instance::get(), index);
}

std::unique_ptr<Device> make_vulkan_device() {
  const int index = best_device(*Instance::get(), true);
  if (index < 0) throw world_error(cat("[vulkan] ", why_no_device(*Instance::get())), "use --device cpu");
  return make_vulkan_device(index);
}

std::unique_ptr<Device> try_vulkan_device(std::string& why_not) {
  try {
    const auto instance = Instance::get();
    const int index = best_device(*instance, false);
    if (index < 0) {
      why_not = why_no_device(*instance);
      return nullptr;
    }
    auto device = make_vulkan_device(index);
    why_not = self_test(*device);
    if (why_not.empty()) return device;
    why_not = cat(device->caps().description, " fails its self-test: ", why_not);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::request) throw;  // a variable set by hand is no reason to fall back
    why_not = error.what();
  }
  return nullptr;
}

std::uint64_t validation_messages() noexcept { return Instance::validation_messages(); }

}  // namespace llmtool
