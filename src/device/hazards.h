// Which recorded commands must wait for which: read after write, write after read, write after write, by byte
// ranges of blocks. A pure function of what was recorded, so that it is tested without any GPU.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "device/kernel_id.h"
#include "device/view.h"

namespace llmtool {

struct Touch {
  std::uint64_t block = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool writes = false;
};

/// The ranges a launch touches, from the accesses in kernels.def.
std::vector<Touch> touches_of(KernelId id, std::span<const View> views);
bool conflict(std::span<const Touch> earlier, std::span<const Touch> later) noexcept;

/// What has been recorded since the last barrier. A command that conflicts with it needs a barrier first,
/// which clears the list. State survives submit(): one queue.
class HazardTracker {
 public:
  /// True: a barrier belongs before this command (and was noted as placed).
  bool record(std::span<const Touch> touches);
  void clear() noexcept;

 private:
  std::vector<Touch> since_barrier_;
};

}  // namespace llmtool
