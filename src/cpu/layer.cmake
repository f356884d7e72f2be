# Highway, for SIMD in the CPU kernels: its headers alone. SYSTEM, so that warnings in them are not ours.
find_path(LLMTOOL_HIGHWAY_INCLUDE hwy/highway.h REQUIRED)
target_include_directories(llmtool_cpu SYSTEM PRIVATE ${LLMTOOL_HIGHWAY_INCLUDE})
if(LLMTOOL_FEW_SIMD_LEVELS)
  target_compile_definitions(llmtool_cpu PRIVATE LLMTOOL_FEW_SIMD_LEVELS)
endif()
