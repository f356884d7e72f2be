# The built-in corpus: data/fox.txt as a .cpp of the build tree, one number per byte, so that no compiler's limit
# on string literals and no escaping rule stands between the file and the program.
set(fox_file ${PROJECT_SOURCE_DIR}/data/fox.txt)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fox_file})
file(READ ${fox_file} fox_hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," fox_bytes "${fox_hex}")
string(REGEX REPLACE "((0x..,)(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?)" "\\1\n" fox_bytes "${fox_bytes}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/text/builtin_corpus.cpp CONTENT [[
// Generated from data/fox.txt.
#include "text/builtin_corpus.h"

namespace llmtool {
namespace {
constexpr char corpus[] = {
@fox_bytes@};
}  // namespace
std::string_view builtin_corpus() noexcept { return {corpus, sizeof corpus}; }
}  // namespace llmtool
]] @ONLY)
target_sources(llmtool_text PRIVATE ${PROJECT_BINARY_DIR}/generated/text/builtin_corpus.cpp)
