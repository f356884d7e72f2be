// Which instruction sets are there and which one is used; see simd_level.h.
#include "cpu/simd_level.h"

#include <array>
#include <cstdlib>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/error.h"

namespace llmtool::cpu {
namespace {

constexpr std::array<std::string_view, simd_level_count> names = {"scalar", "sse4", "neon", "avx2", "avx512"};

#if defined(__x86_64__) || defined(__i386__)
bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1u << 29)) != 0;
}

// __builtin_cpu_supports() counts a set of registers only where the operating system saves it.
bool x86_supports(SimdLevel level) noexcept {
  __builtin_cpu_init();
  const bool sse4 =
      __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_f16c();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#ifdef LLMTOOL_FEW_SIMD_LEVELS
  constexpr bool compiled_in = false;
#else
  constexpr bool compiled_in = true;
#endif
  switch (level) {
    case SimdLevel::sse4:
      return sse4 && compiled_in;
    case SimdLevel::avx2:
      return avx2;
    case SimdLevel::avx512:
      return avx512 && compiled_in;
    default:
      return false;
  }
}
#endif

}  // namespace

std::string_view name_of(SimdLevel level) noexcept { return names[static_cast<std::size_t>(level)]; }

bool supported(SimdLevel level) noexcept {
  if (level == SimdLevel::scalar) return true;
#if defined(__x86_64__) || defined(__i386__)
  return x86_supports(level);
#elif defined(__aarch64__) && defined(__ARM_NEON)
  return level == SimdLevel::neon;
#else
  return false;
#endif
}

std::vector<std::string> supported_levels() {
  std::vector<std::string> list;
  for (int i = 0; i < simd_level_count; ++i) {
    const auto level = static_cast<SimdLevel>(i);
    if (supported(level)) list.emplace_back(name_of(level));
  }
  return list;
}

SimdLevel choose_level(std::string_view wanted) {
  for (int i = simd_level_count - 1; i >= 0; --i) {
    const auto level = static_cast<SimdLevel>(i);
    if (supported(level) && (wanted.empty() || wanted == name_of(level))) return level;
  }
  std::string list;
  for (const std::string& name : supported_levels()) list += cat(list.empty() ? "" : ", ", name);
  bool known = false;
  for (const std::string_view name : names) known = known || name == wanted;
  throw request_error(cat("LLMTOOL_SIMD: ", known ? "this processor does not support \"" : "unknown level \"",
                          wanted, "\"; expected one of ", list));
}

SimdLevel choose_level_from_environment() {
  const char* wanted = std::getenv("LLMTOOL_SIMD");
  return choose_level(wanted == nullptr ? "" : wanted);
}

}  // namespace llmtool::cpu
