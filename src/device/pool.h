// Device memory cut into tensors. Size classes at most 12.5 % apart, lowest free address first, so that the
// same requests give the same addresses; freed memory is reused at once (safe: one queue, and hazards are
// tracked by address). Not here: the blocks themselves (Device::alloc).
#pragma once
#include <cstdint>
#include <memory>

#include "device/view.h"

namespace llmtool {

class Device;

struct Allocation {
  Block* block = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< Of its size class: at least what was asked.
};

class BlockPool {
 public:
  explicit BlockPool(Device& device);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// At least `bytes` (0 counts as 1), aligned to the device's alignment. world_error naming the need when
  /// there is none.
  Allocation take(std::uint64_t bytes);
  void give(const Allocation& allocation) noexcept;

  /// Rounds up to the size class: multiples of the alignment, then eight classes per power of two.
  static std::uint64_t size_class(std::uint64_t bytes, std::uint64_t alignment) noexcept;

  std::uint64_t bytes_in_use() const noexcept;
  std::uint64_t peak_bytes() const noexcept;  ///< Highest bytes_in_use() since the last reset_peak().
  void reset_peak() noexcept;
  /// Gives wholly free blocks back to the device; only when nothing is in flight.
  void trim() noexcept;
  void release_all() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace llmtool
