// check_format().
#include "checkpoint/file_format.h"

#include "base/files.h"

namespace llmtool {

void check_format(std::string_view found, const std::string& where, ErrorKind kind) {
  if (found == file_format) return;
  const std::string shown = printable(found.substr(0, 60));
  constexpr std::string_view family = "llmtool-";
  const std::string_view version =
      found.substr(0, family.size()) == family ? found.substr(family.size()) : "";
  if (!version.empty() && version.find_first_not_of("0123456789") == version.npos) {
    throw NewerFormat(
        kind, cat(where, ": format \"", shown, "\" is not the one of this build, \"", file_format, "\""),
        "use the version of llmtool that wrote it, or a newer one");
  }
  throw Error(kind, cat(where, ": format \"", shown, "\" is not known; expected \"", file_format, "\""));
}

}  // namespace llmtool
