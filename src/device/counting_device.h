// A device that allocates nothing and computes nothing: it keeps the bytes and counters, so that a dry run
// states memory exactly, and can list the launches it was given, so that two steps can be compared. Fetches
// read as zeros.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/device.h"

namespace llmtool {

/// A View by value: it outlives its block.
struct RecordedView {
  std::uint64_t block = 0;  ///< Id; 0: the argument was left out.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  DType dtype = DType::f32;
  bool operator==(const RecordedView&) const = default;
};

/// A launch as it was asked for; equal launches do the same work on the same memory.
struct RecordedLaunch {
  KernelId id{};
  std::vector<RecordedView> views;
  std::vector<std::byte> params;
  bool operator==(const RecordedLaunch&) const = default;
};

class CountingDevice final : public Device {
 public:
  /// `like`: the device whose scratch memory is counted, too (Device::scratch_bytes).
  explicit CountingDevice(const DeviceCaps& caps = {}, const Device* like = nullptr);
  ~CountingDevice() override;

  /// From now on launches are kept (or no longer).
  void record_launches(bool on) noexcept { recording_ = on; }
  /// The launches kept since the last call, in order.
  std::vector<RecordedLaunch> take_launches() noexcept;

 protected:
  Block* do_alloc(std::uint64_t bytes) override;
  void do_free(Block* block) noexcept override;
  void do_launch(KernelId id, std::span<const View> views, const void* params) override;
  void do_copy(const View&, const View&) override {}
  void do_fill(const View&, std::uint32_t) override {}
  void do_stage(const View&, std::span<const std::byte>) override {}
  void do_fetch(const View&, std::shared_ptr<Fetched>) override {}
  void do_submit(Ticket) override {}
  void do_wait(Ticket) override {}

 private:
  std::unordered_map<const Block*, std::unique_ptr<Block>> blocks_;
  std::vector<RecordedLaunch> launches_;
  const Device* like_;
  bool recording_ = false;
};

}  // namespace llmtool
