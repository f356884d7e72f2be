# The Vulkan headers and volk (which loads the library at run time, so that nothing is linked but dl), and the
# shaders. SYSTEM, so that warnings in the headers are not ours.
include(Shaders)
find_path(LLMTOOL_VULKAN_INCLUDE vulkan/vulkan.h HINTS $ENV{VULKAN_SDK}/include)
find_path(LLMTOOL_VOLK_INCLUDE volk.h HINTS $ENV{VULKAN_SDK}/include PATH_SUFFIXES volk Volk)
if(NOT LLMTOOL_VULKAN_INCLUDE OR NOT LLMTOOL_VOLK_INCLUDE)
  message(FATAL_ERROR "The Vulkan device is built with the Vulkan headers and volk.h (Debian: libvulkan-dev, "
    "libvulkan-volk-dev). To build without it: -DLLMTOOL_VULKAN=OFF")
endif()
target_include_directories(llmtool_vulkan SYSTEM PRIVATE ${LLMTOOL_VULKAN_INCLUDE} ${LLMTOOL_VOLK_INCLUDE})
target_link_libraries(llmtool_vulkan PRIVATE ${CMAKE_DL_LIBS})
llmtool_embed_shaders(llmtool_vulkan)
