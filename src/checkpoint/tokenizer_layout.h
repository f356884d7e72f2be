// The fixed parts of a tokenizer.json, by which a type is recognised: what the writer puts there is what the
// reader compares with. Internal to tokenizer_file.h.
#pragma once
#include <string_view>

namespace llmtool::tokenizer_layout {

/// Bytes become characters of the byte alphabet, without any splitting of words.
inline constexpr std::string_view byte_level =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
/// Each character is a word of its own, newlines too.
inline constexpr std::string_view per_character =
    R"({"type": "Split", "pattern": {"Regex": "[\\s\\S]"}, "behavior": "Isolated", "invert": false})";
/// What is not ASCII is dropped.
inline constexpr std::string_view ascii_only =
    R"({"type": "Replace", "pattern": {"Regex": "[^\\x00-\\x7F]"}, "content": ""})";
/// Characters are joined without spaces.
inline constexpr std::string_view fuse = R"({"type": "Fuse"})";

}  // namespace llmtool::tokenizer_layout
