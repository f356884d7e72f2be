// The version mark that our files carry ("format": "llmtool-1") and its check. Not here: what the files hold.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmtool {

inline constexpr std::string_view file_format = "llmtool-1";

/// Thrown for a mark of ours with another version: the file is whole, but this build cannot read it.
class NewerFormat : public Error {
 public:
  using Error::Error;
};

/// Refuses any other mark: a newer one (NewerFormat) with both versions, anything else as not ours. `where`
/// names the file (and key).
void check_format(std::string_view found, const std::string& where, ErrorKind kind);

}  // namespace llmtool
