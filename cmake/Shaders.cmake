# Every kernels/*.comp: compiled to SPIR-V, validated, and embedded in the library it is given to, as the table
# that src/vulkan/shaders.h declares. The build fails where either tool objects.
find_program(LLMTOOL_GLSLANG NAMES glslangValidator glslang)
find_program(LLMTOOL_SPIRV_VAL spirv-val)
if(NOT LLMTOOL_GLSLANG OR NOT LLMTOOL_SPIRV_VAL)
  message(FATAL_ERROR "The Vulkan device is built with glslangValidator and spirv-val (Debian: glslang-tools, "
    "spirv-tools). To build without it: -DLLMTOOL_VULKAN=OFF")
endif()

function(llmtool_embed_shaders target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${out})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.comp)
  file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.glsl ${PROJECT_SOURCE_DIR}/kernels/*.h)
  list(SORT sources)  # the table is searched by name
  set(headers)
  set(includes)
  set(rows)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_custom_command(
      OUTPUT ${out}/${name}.h
      COMMAND ${LLMTOOL_GLSLANG} --quiet -V --target-env vulkan1.2 -I${PROJECT_SOURCE_DIR}/kernels
              -o ${out}/${name}.spv ${source}
      COMMAND ${LLMTOOL_SPIRV_VAL} --target-env vulkan1.2 ${out}/${name}.spv
      COMMAND ${LLMTOOL_GLSLANG} --quiet -V --target-env vulkan1.2 -I${PROJECT_SOURCE_DIR}/kernels
              --vn spirv_${name} -o ${out}/${name}.h ${source}
      DEPENDS ${source} ${shared}
      COMMENT "Shader ${name}" VERBATIM)
    list(APPEND headers ${out}/${name}.h)
    string(APPEND includes "#include \"shaders/${name}.h\"\n")
    string(APPEND rows "    {\"${name}\", spirv_${name}},\n")
  endforeach()
  set(table "// Made by the build from kernels/*.comp.
#include \"vulkan/shaders.h\"

#include <array>

namespace {
${includes}
constexpr llmtool::vulkan::Shader table[] = {
${rows}};
}  // namespace

namespace llmtool::vulkan {
std::span<const Shader> all_shaders() noexcept { return table; }
}  // namespace llmtool::vulkan
")
  file(CONFIGURE OUTPUT ${out}/shaders.cpp CONTENT "${table}" @ONLY)
  set_source_files_properties(${out}/shaders.cpp PROPERTIES OBJECT_DEPENDS "${headers}")
  target_sources(${target} PRIVATE ${out}/shaders.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
