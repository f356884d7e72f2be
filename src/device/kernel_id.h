// The names of all kernels as types, made from kernels.def: ids, parameter structs, accesses. Not here: any
// kernel.
#pragma once
#include <cstdint>
#include <string_view>

#include "kernels/params.h"

namespace llmtool {

enum class KernelId : std::uint16_t {
#define KERNEL(name, params, accesses, grid, dtypes) name,
#include "device/kernels.def"
#undef KERNEL
  count
};
inline constexpr int kernel_count = static_cast<int>(KernelId::count);

enum class Access : std::uint8_t { read, write, update, accumulate };
enum class Grid : std::uint8_t { flat, rows, cols, tiles, heads, single };

struct KernelInfo {
  std::string_view name;
  std::string_view accesses;  ///< One letter per argument, as in kernels.def.
  std::string_view dtypes;
  Grid grid;
  std::uint32_t params_bytes;

  int arity() const noexcept { return static_cast<int>(accesses.size()); }
  bool optional(int argument) const noexcept { return accesses[static_cast<std::size_t>(argument)] >= 'a'; }
  Access access(int argument) const noexcept;
};

const KernelInfo& kernel_info(KernelId id) noexcept;

/// KernelParams<KernelId::add>::type is BroadcastParams, and so on.
template <KernelId id>
struct KernelParams;
#define KERNEL(name, params, accesses, grid, dtypes)   \
  template <>                                          \
  struct KernelParams<KernelId::name> {                \
    using type = params;                               \
    static constexpr int arity = sizeof(accesses) - 1; \
  };
#include "device/kernels.def"
#undef KERNEL

}  // namespace llmtool
