// The fixed parts of a tokenizer.json, by which a type is recognised: what the writer puts there is what the
// reader compares with. Internal to tokenizer_file.h.
#pragma once
#include <string_view>

namespace llmtool::tokenizer_layout {

/// Bytes become characters of the byte alphabet, without any splitting of words.
inline constexpr std::string_view byte_level =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
/// Bytes become characters of the byte alphabet, after the splitting of GPT-2.
inline constexpr std::string_view byte_level_gpt2 =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";

/// A published pattern and the name of the splitting that it stands for (text/pretokenizer.h).
struct Pattern {
  std::string_view regex;
  std::string_view pretokenizer;
};
/// The first of each name is the one written; the others mean the same. Where patterns end in `$`, the end of
/// the text is meant, for which Hugging Face's engine has `\z`.
inline constexpr Pattern patterns[] = {
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s)",
     "gpt4"},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     "gpt4_2023"},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     "gpt4_2023"},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "gpt2"},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "gpt2"},
};

/// Each character is a word of its own, newlines too.
inline constexpr std::string_view per_character =
    R"({"type": "Split", "pattern": {"Regex": "[\\s\\S]"}, "behavior": "Isolated", "invert": false})";
/// What is not ASCII is dropped.
inline constexpr std::string_view ascii_only =
    R"({"type": "Replace", "pattern": {"Regex": "[^\\x00-\\x7F]"}, "content": ""})";
/// Characters are joined without spaces.
inline constexpr std::string_view fuse = R"({"type": "Fuse"})";

}  // namespace llmtool::tokenizer_layout
