// The narrow waist between the mathematics above and the hardware below. launch, copy, fill, stage and fetch
// only record; their order is their meaning; submit() sends what was recorded and wait() blocks. A device may
// run a record at once (the CPU does) or late (a GPU, the reference device): code above cannot tell, and must
// not try. Not here: one function per operation; tensors; where memory is cut up (pool.h).
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "device/kernel_id.h"
#include "device/view.h"

namespace llmtool {

class BlockPool;

/// Number of a submission, from 1; 0 is "before the first".
using Ticket = std::uint64_t;

/// What a device can do and how much at once.
struct DeviceCaps {
  std::uint64_t max_binding_bytes = ~std::uint64_t{0};  ///< Largest View a kernel may be given.
  std::uint64_t block_bytes = std::uint64_t{64} << 20;  ///< Usual size of a pool block.
  std::uint64_t alignment = 256;                        ///< Of every allocation.
  std::uint64_t memory_bytes = ~std::uint64_t{0};       ///< What may be allocated in all, as far as known.
  std::string simd;                                     ///< CPU: instruction set in use ("avx2").
  std::string description;                              ///< GPU: the name its driver gives.
  int threads = 1;
};

/// Counters, kept by the base class so that every device counts alike.
struct DeviceStats {
  std::uint64_t submits = 0;
  std::uint64_t waits = 0;  ///< wait() calls with a ticket not yet waited for.
  Ticket last_waited = 0;
  std::uint64_t launches = 0;
  std::uint64_t copies = 0;
  std::uint64_t fills = 0;
  std::uint64_t bytes_staged = 0;
  std::uint64_t bytes_fetched = 0;
  std::uint64_t fetches = 0;
  std::uint64_t blocks = 0;       ///< Device blocks made so far.
  std::uint64_t block_bytes = 0;  ///< Bytes of the blocks that are live.
  std::uint64_t barriers = 0;     ///< Devices that place them.
  std::uint64_t segments = 0;     ///< Pieces that submissions were sent in, on devices that cut them.
  std::array<std::uint64_t, kernel_count> launches_of{};
};

/// What the launches of one kernel took and did, while profiling.
struct KernelTime {
  std::uint64_t launches = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;
};
using KernelTimes = std::map<std::string, KernelTime>;  ///< By kernel name.

/// Bytes on their way to the host. Readable once the submission that carries them has been waited for.
class Fetched {
 public:
  explicit Fetched(std::uint64_t bytes) : bytes_(bytes) {}
  bool ready() const noexcept { return ready_; }
  std::span<const std::byte> bytes() const;  ///< InternalError unless ready().
  /// The same bytes as values of T (float, std::int32_t, StepStats); their number must come out even.
  template <class T>
  std::vector<T> as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto raw = bytes();
    LLMTOOL_CHECK(raw.size() % sizeof(T) == 0, raw.size(), " bytes in pieces of ", sizeof(T));
    std::vector<T> values(raw.size() / sizeof(T));
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }

 private:
  friend class Device;
  std::vector<std::byte> bytes_;
  Ticket ticket_ = 0;
  bool ready_ = false;
};
using FetchedPtr = std::shared_ptr<Fetched>;

class Device {
 public:
  Device();
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const noexcept { return name_; }
  const DeviceCaps& caps() const noexcept { return caps_; }
  const DeviceStats& stats() const noexcept { return stats_; }
  BlockPool& pool() noexcept { return *pool_; }

  /// A new block of device memory (the pool calls this, nobody else). world_error when there is none.
  Block* alloc(std::uint64_t bytes);
  void free(Block* block) noexcept;

  /// Records one kernel. Checks the arguments against kernels.def (number, dtype, presence, size limit).
  void launch(KernelId id, std::span<const View> views, const void* params, std::size_t params_bytes);
  /// Records dst = src (equal sizes, not overlapping).
  void copy(const View& src, const View& dst);
  /// Records every 32-bit word of dst = pattern.
  void fill(const View& dst, std::uint32_t pattern);
  /// Records dst = bytes; the bytes are taken before stage() returns.
  void stage(const View& dst, std::span<const std::byte> bytes);
  /// Records host = src.
  FetchedPtr fetch(const View& src);
  Ticket submit();
  /// Blocks until that submission is done and its fetches are readable. Throws what the device met (lost, out
  /// of memory).
  void wait(Ticket ticket);
  /// submit() and wait() for it.
  void synchronise() { wait(submit()); }
  /// From now on every launch is timed by itself: on the device's clock where it runs late, so it is complete
  /// for submissions that were waited for. Slower, since nothing overlaps.
  virtual void set_profiling(bool on) { profiling_ = on; }
  virtual KernelTimes kernel_times() const { return times_; }

  /// Bytes that the device takes from its pool while it records this launch, and then gives back; 0: none.
  /// Records nothing: a dry run counts by it (counting_device.h).
  virtual std::uint64_t scratch_bytes(KernelId, std::span<const View>, const void* /*params*/) const {
    return 0;
  }

  /// Ticket of the last submit().
  Ticket submitted() const noexcept { return submitted_; }

 protected:
  virtual Block* do_alloc(std::uint64_t bytes) = 0;  ///< Sets Block::host and bytes; id is set by the base.
  virtual void do_free(Block* block) noexcept = 0;
  virtual void do_launch(KernelId id, std::span<const View> views, const void* params) = 0;
  virtual void do_copy(const View& src, const View& dst) = 0;
  virtual void do_fill(const View& dst, std::uint32_t pattern) = 0;
  virtual void do_stage(const View& dst, std::span<const std::byte> bytes) = 0;
  /// `host` is filled at the latest when do_wait() of the next submission returns.
  virtual void do_fetch(const View& src, std::shared_ptr<Fetched> host) = 0;
  virtual void do_submit(Ticket ticket) = 0;
  virtual void do_wait(Ticket ticket) = 0;

  static std::span<std::byte> writable(Fetched& fetched) noexcept { return fetched.bytes_; }
  /// Destructors of devices call this first: the pool gives its blocks back while do_free still exists.
  void release_pool() noexcept;

  std::string name_;
  DeviceCaps caps_;
  DeviceStats stats_;

 private:
  void timed_launch(KernelId id, std::span<const View> views, const void* params);

  std::unique_ptr<BlockPool> pool_;
  bool profiling_ = false;
  KernelTimes times_;
  std::vector<FetchedPtr> pending_;
  Ticket submitted_ = 0;
  Ticket waited_ = 0;
  std::uint64_t next_block_ = 1;
};

/// launch<KernelId::add>(device, {a, b, y}, params): number of arguments and parameter struct checked when
/// compiled.
template <KernelId id>
void launch(Device& device, const View (&views)[static_cast<std::size_t>(KernelParams<id>::arity)],
            const typename KernelParams<id>::type& params) {
  device.launch(id, views, &params, sizeof params);
}

}  // namespace llmtool
