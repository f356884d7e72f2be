// The compiled shaders, embedded by the build (cmake/Shaders.cmake). Not here: pipelines made from them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace llmtool::vulkan {

struct Shader {
  std::string_view name;  ///< Stem of the .comp file.
  std::span<const std::uint32_t> spirv;
};

/// All of them, sorted by name.
std::span<const Shader> all_shaders() noexcept;

}  // namespace llmtool::vulkan
