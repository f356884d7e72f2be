// Memory of the CPU device: how much the system can still give, and blocks mapped from it. Not here: how
// blocks are cut into tensors (device/pool.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace llmtool::cpu {

/// Bytes this process can still use without swapping: the smaller of the system's MemAvailable and what its
/// cgroups (v1 and v2, all levels) leave. All ones if the system does not say.
std::uint64_t available_memory();

/// Zeroed pages, backed when first touched, huge where the system likes; null if the system refuses. Aligned
/// to 4096 bytes at least. `bytes` is a multiple of 4096.
std::byte* map_pages(std::uint64_t bytes) noexcept;
void unmap_pages(std::byte* pages, std::uint64_t bytes) noexcept;

}  // namespace llmtool::cpu
