# What every target is compiled with, and llmtool_layer(): one folder of src/ as one library.
# Not here: how tests are built (tests/CMakeLists.txt).

add_library(llmtool_flags INTERFACE)
target_include_directories(llmtool_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
# -ffp-contract=off: a product and a sum are fused only where the code says so; otherwise the compiler
# would fuse the body of a loop and not its tail, and equal rows would give unequal bits.
target_compile_options(llmtool_flags INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual $<$<BOOL:${LLMTOOL_WERROR}>:-Werror>)
if(LLMTOOL_SANITIZE)
  target_compile_options(llmtool_flags INTERFACE
    -fsanitize=${LLMTOOL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(llmtool_flags INTERFACE -fsanitize=${LLMTOOL_SANITIZE})
endif()

# llmtool_layer(NAME LINKS ...): src/NAME/*.cpp as the static library llmtool_NAME. A name in LINKS that is
# itself a layer means llmtool_<name>.
function(llmtool_layer name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  set(links)
  foreach(link IN LISTS ARG_LINKS)
    if(TARGET llmtool_${link})
      list(APPEND links llmtool_${link})
    else()
      list(APPEND links ${link})
    endif()
  endforeach()
  if(sources)
    add_library(llmtool_${name} STATIC ${sources})
    target_link_libraries(llmtool_${name} PRIVATE llmtool_flags PUBLIC ${links})
  else()
    add_library(llmtool_${name} INTERFACE)
    target_link_libraries(llmtool_${name} INTERFACE ${links})
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${name}/layer.cmake)
    include(${PROJECT_SOURCE_DIR}/src/${name}/layer.cmake)
  endif()
endfunction()
