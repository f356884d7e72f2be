// Shaders as pipelines, made when first needed and kept. All kernels share one layout: eight storage buffers
// and 128 bytes of push constants. Not here: which constants a shader gets (plan.h).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "vulkan/gpu.h"

namespace llmtool::vulkan {

inline constexpr std::uint32_t push_bytes = 128;

class Pipelines {
 public:
  explicit Pipelines(const Gpu& gpu);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  VkDescriptorSetLayout set_layout() const noexcept { return set_layout_; }
  VkPipelineLayout layout() const noexcept { return layout_; }
  /// The shader of that name specialised by `constants` (ids 0 .. 7).
  VkPipeline get(std::string_view shader, const std::array<std::uint32_t, 8>& constants);

 private:
  using Key = std::pair<std::string_view, std::array<std::uint32_t, 8>>;
  VkPipeline make(const Key& key);

  const Gpu& gpu_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<Key, VkPipeline> pipelines_;
  std::map<std::string_view, VkShaderModule> modules_;
};

}  // namespace llmtool::vulkan
