// Making CPU devices of a given SIMD level; see cpu_at_level.h.
#include "kernels/cpu_at_level.h"

#include <cstdlib>

#include "cpu/cpu_device.h"

namespace llmtool::kernel_test {

std::unique_ptr<Device> cpu_at_level(const std::string& level, int threads) {
  const char* const before = std::getenv("LLMTOOL_SIMD");
  const std::string kept = before != nullptr ? before : "";
  setenv("LLMTOOL_SIMD", level.c_str(), 1);
  auto device = make_cpu_device(threads);
  if (before != nullptr) {
    setenv("LLMTOOL_SIMD", kept.c_str(), 1);
  } else {
    unsetenv("LLMTOOL_SIMD");
  }
  return device;
}

}  // namespace llmtool::kernel_test
