// Host memory that the device reads from or writes to, one per ring slot: pieces are taken in order and all
// given back at once when the slot is used again. Not here: when that is (recorder.h).
#pragma once
#include <cstdint>
#include <vector>

#include "vulkan/gpu.h"

namespace llmtool::vulkan {

class HostRing {
 public:
  struct Piece {
    const Buffer* buffer = nullptr;
    std::uint64_t offset = 0;
    std::byte* host() const noexcept { return buffer->host() + offset; }
  };

  HostRing(const Gpu& gpu, MemoryUse use) : gpu_(gpu), use_(use) {}
  /// `bytes` in one piece, aligned to 16.
  Piece take(std::uint64_t bytes);
  /// Makes host writes visible to the device.
  void flush() const;
  /// Everything is free again; chunks beyond 16 MiB go back to the driver.
  void reset();
  std::uint64_t used() const noexcept { return used_; }

 private:
  struct Chunk {
    std::unique_ptr<Buffer> buffer;  // pieces point to it
    std::uint64_t used = 0;
  };
  const Gpu& gpu_;
  MemoryUse use_;
  std::vector<Chunk> chunks_;
  std::uint64_t used_ = 0;
};

}  // namespace llmtool::vulkan
