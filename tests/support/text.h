// Looking at texts in tests. Not here: running the tool (cli/tool.h).
#pragma once
#include <cstddef>
#include <string>

namespace llmtool {

/// How often `part` stands in `text`.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace llmtool
