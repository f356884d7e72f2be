// Making pipelines; see pipelines.h.
#include "vulkan/pipelines.h"

#include <algorithm>

#include "base/error.h"
#include "vulkan/shaders.h"

namespace llmtool::vulkan {

Pipelines::Pipelines(const Gpu& gpu) : gpu_(gpu) {
  std::array<VkDescriptorSetLayoutBinding, max_bindings> bindings{};
  for (std::uint32_t i = 0; i < max_bindings; ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set{};
  set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set.bindingCount = max_bindings;
  set.pBindings = bindings.data();
  check(vkCreateDescriptorSetLayout(gpu.device(), &set, nullptr, &set_layout_), "making a layout");
  VkPushConstantRange push{};
  push.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  push.size = push_bytes;
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  check(vkCreatePipelineLayout(gpu.device(), &layout, nullptr, &layout_), "making a layout");
}

Pipelines::~Pipelines() {
  for (const auto& [key, pipeline] : pipelines_) vkDestroyPipeline(gpu_.device(), pipeline, nullptr);
  for (const auto& [name, module] : modules_) vkDestroyShaderModule(gpu_.device(), module, nullptr);
  vkDestroyPipelineLayout(gpu_.device(), layout_, nullptr);
  vkDestroyDescriptorSetLayout(gpu_.device(), set_layout_, nullptr);
}

VkPipeline Pipelines::get(std::string_view shader, const std::array<std::uint32_t, 8>& constants) {
  const auto found = pipelines_.find(Key{shader, constants});
  if (found != pipelines_.end()) return found->second;
  const auto shaders = all_shaders();
  const auto entry = std::lower_bound(shaders.begin(), shaders.end(), shader,
                                      [](const Shader& s, std::string_view name) { return s.name < name; });
  LLMTOOL_CHECK(entry != shaders.end() && entry->name == shader, "no shader is called ", shader);
  const Key key{entry->name, constants};  // names that outlive the dispatch
  if (modules_.find(entry->name) == modules_.end()) {
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = entry->spirv.size_bytes();
    info.pCode = entry->spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    check(vkCreateShaderModule(gpu_.device(), &info, nullptr, &module), cat("the shader ", shader));
    modules_.emplace(entry->name, module);
  }
  return pipelines_.emplace(key, make(key)).first->second;
}

VkPipeline Pipelines::make(const Key& key) {
  std::array<VkSpecializationMapEntry, 8> entries{};
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] = {i, i * 4, 4};
  VkSpecializationInfo specialisation{};
  specialisation.mapEntryCount = static_cast<std::uint32_t>(entries.size());
  specialisation.pMapEntries = entries.data();
  specialisation.dataSize = sizeof key.second;
  specialisation.pData = key.second.data();
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = modules_.at(key.first);
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialisation;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(vkCreateComputePipelines(gpu_.device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        cat("compiling the shader ", key.first));
  return pipeline;
}

}  // namespace llmtool::vulkan
