// Blocks of memory for the CPU device, mapped from the system. Not here: how much the system can give
// (base/memory.h), how blocks are cut into tensors (device/pool.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace llmtool::cpu {

/// Zeroed pages, backed when first touched, huge where the system likes; null if the system refuses. Aligned
/// to 4096 bytes at least. `bytes` is a multiple of 4096.
std::byte* map_pages(std::uint64_t bytes) noexcept;
void unmap_pages(std::byte* pages, std::uint64_t bytes) noexcept;

}  // namespace llmtool::cpu
