// The alphabet in which byte-level vocabularies are written in JSON: one printable character per byte
// (Radford et al., GPT-2, 2019). Bytes that are printable in Latin-1 stand for themselves, the others for
// U+0100 and on, in order.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace llmtool {

/// The bytes as text: valid UTF-8 without spaces or control characters.
std::string to_byte_alphabet(std::string_view bytes);
/// The bytes that such a text stands for; nullopt if it holds a character outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace llmtool
