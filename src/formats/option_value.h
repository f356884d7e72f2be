// One option and one JSON value: checking, setting, and the words for both. Internal to formats.
#pragma once
#include <string>

#include "formats/options_json.h"

namespace llmtool::detail {

/// "an integer from 1 to 65536", "one of layernorm, rmsnorm or null", ...
std::string expectation(const Option& option);
std::string type_name(const Option& option);
/// Sets the field from `value`, or throws Error(kind) that opens with "<source>: <path>: ".
void assign(const Option& option, const Json& value, const std::string& source, ErrorKind kind);
Json value_of(const Option& option);

}  // namespace llmtool::detail
