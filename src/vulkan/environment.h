// What the environment changes for tests and for measuring: smaller limits, validation, forced failures. Not
// for users' configuration. Not here: who obeys them.
#pragma once
#include <cstdint>

namespace llmtool::vulkan {

/// Read anew by each device. 0: not set.
struct Environment {
  std::uint64_t max_range = 0;        ///< LLMTOOL_VK_MAX_RANGE: bytes of one bound view.
  std::uint32_t max_shared = 0;       ///< LLMTOOL_VK_MAX_SHARED: bytes of shared memory.
  std::uint32_t max_invocations = 0;  ///< LLMTOOL_VK_MAX_INVOCATIONS: threads of a workgroup.
  std::uint64_t max_memory = 0;       ///< LLMTOOL_VK_MAX_MEMORY: bytes of device memory.
  std::uint32_t submit_ms = 0;        ///< LLMTOOL_VK_SUBMIT_MS: time budget of a segment.
  std::uint64_t lose_after =
      0;                  ///< LLMTOOL_VK_LOSE_AFTER: the device counts as lost from this submission on.
  bool validate = false;  ///< LLMTOOL_VK_VALIDATE=1: core and synchronisation validation.
};

/// request_error for a value that is not a number in range.
Environment read_environment();

}  // namespace llmtool::vulkan
