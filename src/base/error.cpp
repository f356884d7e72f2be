// The text of a failed check.
#include "base/error.h"

#include <string_view>

namespace llmtool {

void check_failed(const char* expression, const char* file, int line, const std::string& values) {
  std::string_view where = file;
  if (const auto src = where.rfind("src/"); src != std::string_view::npos) where.remove_prefix(src);
  std::string text = cat("check '", expression, "' failed at ", where, ":", line);
  if (!values.empty()) text += ": " + values;
  throw InternalError(text);
}

}  // namespace llmtool
