// The corpus inside the executable: data/fox.txt, so that the walkthrough and a bare `train` need no file.
// The definition is generated at configure time (layer.cmake). Not here: reading the user's own text
// (corpus.h).
#pragma once
#include <string_view>

namespace llmtool {

/// 669 characters of ASCII, 35 distinct ones, ending in a newline; lives as long as the program.
std::string_view builtin_corpus() noexcept;

}  // namespace llmtool
