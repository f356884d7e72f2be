// The device every other is tested against. Beside the raw bytes it keeps one wider scalar per 32-bit word
// (double, or a Dual that carries a derivative), and computes in that. It is unkind on purpose: commands run
// at submit(), in a random order that respects only the hazards of kernels.def; fetches hold NaN until
// wait(); fresh memory holds NaN; kernels cannot touch what they have not declared. Not here: speed.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "device/device.h"
#include "device/hazards.h"
#include "ref/dual.h"

namespace llmtool {

template <class Scalar>
class ReferenceDevice final : public Device {
 public:
  /// `seed` picks the order of commands; equal seeds give equal orders.
  explicit ReferenceDevice(std::uint64_t seed = 1, const DeviceCaps& caps = {});
  ~ReferenceDevice() override;

  /// The wide scalars behind a view. Runs first what was recorded.
  std::vector<Scalar> peek(const View& view);
  /// Sets one element to a scalar that f32 need not hold, a Dual's derivative included. Runs first what was
  /// recorded.
  void poke(const View& view, std::uint64_t element, const Scalar& value);

 protected:
  Block* do_alloc(std::uint64_t bytes) override;
  void do_free(Block* block) noexcept override;
  void do_launch(KernelId id, std::span<const View> views, const void* params) override;
  void do_copy(const View& src, const View& dst) override;
  void do_fill(const View& dst, std::uint32_t pattern) override;
  void do_stage(const View& dst, std::span<const std::byte> bytes) override;
  void do_fetch(const View& src, std::shared_ptr<Fetched> host) override;
  void do_submit(Ticket ticket) override;
  void do_wait(Ticket ticket) override;

 private:
  struct Memory {
    Block block;
    std::vector<std::byte> raw;
    std::vector<Scalar> wide;
  };
  struct Command {
    std::vector<Touch> touches;
    std::function<void()> run;
  };
  /// Bytes read by a fetch, kept back until its submission is waited for.
  struct Landed {
    Ticket ticket;
    std::shared_ptr<Fetched> host;
    std::vector<std::byte> bytes;
  };

  Memory& memory_of(const View& view);
  std::uint32_t word(Memory& memory, std::uint64_t index) const;
  void set_word(Memory& memory, std::uint64_t index, std::uint32_t value);
  void set_wide(Memory& memory, std::uint64_t index, const Scalar& value);
  void record(std::vector<Touch> touches, std::function<void()> run);
  void run_launch(KernelId id, const std::vector<View>& views, const std::vector<std::byte>& params);
  void settle();

  std::map<const Block*, std::unique_ptr<Memory>> memory_;
  std::vector<Command> commands_;
  std::vector<Landed> landed_;
  std::mt19937_64 order_;
};

extern template class ReferenceDevice<double>;
extern template class ReferenceDevice<ref::Dual>;

}  // namespace llmtool
