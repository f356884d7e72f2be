// JSON documents, strictly: what RFC 8259 does not allow, duplicate keys and deep nesting are refused with
// the place. Not here: what a document means (options_json.h, safetensors.h and the layers above).
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace llmtool {

/// Objects keep the order of their keys. Looking a key up is linear: walk large objects instead.
using Json = nlohmann::ordered_json;

/// Deepest nesting of arrays and objects that is read.
inline constexpr int max_json_depth = 64;
/// Largest document that is read unless the caller says otherwise.
inline constexpr std::uint64_t max_json_bytes = std::uint64_t{256} << 20;

/// The document in `text`; `source` (a file name, a flag) opens every error, which is of `kind`: request for
/// what the user wrote, world for a damaged file of ours. Errors: syntax (line and column, counted in bytes
/// from 1), comments, trailing text, NaN and infinities, numbers beyond double, invalid UTF-8, a duplicate
/// key (with its JSON path), nesting beyond max_json_depth, more than max_bytes.
Json parse_json(std::string_view text, const std::string& source, ErrorKind kind = ErrorKind::request,
                std::uint64_t max_bytes = max_json_bytes);

/// parse_json() of a file ("-" is stdin); a file that cannot be read is a world error whatever `kind` is.
Json read_json_file(const Path& path, ErrorKind kind = ErrorKind::request,
                    std::uint64_t max_bytes = max_json_bytes);

/// Indented by two spaces, with a newline at the end. Bytes that are not UTF-8 become U+FFFD; NaN and
/// infinities null.
std::string to_json_text(const Json& json);
/// The same on one line, without a newline.
std::string to_json_line(const Json& json);

/// "an object", "a string", "an integer", ... : what a message calls the value.
std::string json_kind(const Json& value);
/// The value on one line, cut to about 60 bytes and safe to print.
std::string json_excerpt(const Json& value);

}  // namespace llmtool
