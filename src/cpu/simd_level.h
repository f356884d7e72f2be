// The SIMD levels the CPU kernels are compiled for, which of them this processor runs, and which is used. Not
// here: the kernels, nor how they are compiled (simd_target.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmtool::cpu {

/// In ascending order of preference. A level that was not compiled in is never supported.
enum class SimdLevel : std::uint8_t { scalar, sse4, neon, avx2, avx512, count };
inline constexpr int simd_level_count = static_cast<int>(SimdLevel::count);

std::string_view name_of(SimdLevel level) noexcept;

/// Whether processor and operating system run it (registers saved on a task switch included).
bool supported(SimdLevel level) noexcept;

/// Names of the supported levels, ascending.
std::vector<std::string> supported_levels();

/// The level to use: the one named by `wanted`, or the best supported one if `wanted` is empty. request_error
/// for a name that is unknown or not supported here, with the supported ones.
SimdLevel choose_level(std::string_view wanted);

/// choose_level() of the environment variable LLMTOOL_SIMD.
SimdLevel choose_level_from_environment();

}  // namespace llmtool::cpu
