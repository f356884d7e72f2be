// The table behind kernel_info(), made from kernels.def. Not here: any kernel.
#include "device/kernel_id.h"

#include <array>

namespace llmtool {
namespace {

constexpr std::array<KernelInfo, static_cast<std::size_t>(kernel_count)> infos{{
#define KERNEL(name, params, accesses, grid, dtypes) {#name, accesses, dtypes, Grid::grid, sizeof(params)},
#include "device/kernels.def"
#undef KERNEL
}};

// A line of kernels.def that contradicts itself does not compile.
#define KERNEL(name, params, accesses, grid, dtypes)                                                   \
  static_assert(sizeof(accesses) == sizeof(dtypes), #name ": one dtype for each access");              \
  static_assert(sizeof(params) <= 96 && sizeof(params) % 4 == 0, #name ": at most 96 bytes of words"); \
  static_assert(sizeof(accesses) <= 9, #name ": at most eight arguments");
#include "device/kernels.def"
#undef KERNEL

}  // namespace

Access KernelInfo::access(int argument) const noexcept {
  switch (accesses[static_cast<std::size_t>(argument)]) {
    case 'R':
    case 'r':
      return Access::read;
    case 'W':
    case 'w':
      return Access::write;
    case 'U':
    case 'u':
      return Access::update;
    default:
      return Access::accumulate;
  }
}

const KernelInfo& kernel_info(KernelId id) noexcept { return infos[static_cast<std::size_t>(id)]; }

}  // namespace llmtool
