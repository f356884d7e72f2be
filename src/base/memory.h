// How much memory the system can still give. Not here: taking any of it.
#pragma once
#include <cstdint>

namespace llmtool {

/// Bytes this process can still use without swapping: the smaller of the system's MemAvailable and what its
/// cgroups (v1 and v2, all levels) leave. All ones if the system does not say.
std::uint64_t available_memory();

}  // namespace llmtool
