// Cutting host memory into pieces; see host_ring.h.
#include "vulkan/host_ring.h"

#include <algorithm>

namespace llmtool::vulkan {
namespace {
constexpr std::uint64_t small_chunk = std::uint64_t{1} << 20;
constexpr std::uint64_t kept_bytes = std::uint64_t{16} << 20;
}  // namespace

HostRing::Piece HostRing::take(std::uint64_t bytes) {
  const std::uint64_t rounded = (bytes + 15) / 16 * 16;
  used_ += rounded;
  for (Chunk& chunk : chunks_) {
    if (chunk.buffer->bytes() - chunk.used < rounded) continue;
    const Piece piece{chunk.buffer.get(), chunk.used};
    chunk.used += rounded;
    return piece;
  }
  // Twice what there is, so that a few chunks serve any step.
  std::uint64_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.buffer->bytes();
  const std::uint64_t size = std::max({rounded, small_chunk, std::min(2 * total, kept_bytes)});
  chunks_.push_back({std::make_unique<Buffer>(gpu_.make_buffer(size, use_)), rounded});
  return {chunks_.back().buffer.get(), 0};
}

void HostRing::flush() const {
  for (const Chunk& chunk : chunks_) chunk.buffer->flush(0, chunk.used);
}

void HostRing::reset() {
  used_ = 0;
  std::uint64_t kept = 0;
  std::erase_if(chunks_, [&kept](const Chunk& chunk) {
    if (kept + chunk.buffer->bytes() > kept_bytes) return true;
    kept += chunk.buffer->bytes();
    return false;
  });
  for (Chunk& chunk : chunks_) chunk.used = 0;
}

}  // namespace llmtool::vulkan
