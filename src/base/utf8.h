// UTF-8, strictly: overlong forms, surrogates and values above U+10FFFF are not code points. Not here: what a
// program does with bytes that are not UTF-8 (text keeps them, messages escape them), nor any Unicode
// property.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace llmtool {

/// One decoded code point; length 0 means that no valid sequence starts there.
struct CodePoint {
  char32_t value = 0;
  int length = 0;  ///< bytes used, 1 to 4, or 0
};

/// The code point that starts at bytes[at]; length 0 if at is past the end or the sequence is invalid or cut
/// off.
CodePoint decode_utf8(std::string_view bytes, std::size_t at = 0) noexcept;

/// Appends the UTF-8 form of `value`, which must be a code point (not a surrogate, at most 0x10FFFF).
void append_utf8(std::string& out, char32_t value);

/// True if all of `bytes` is valid UTF-8.
bool is_utf8(std::string_view bytes) noexcept;

/// The length of `bytes` without a sequence at its end that is valid so far but cut off (0 to 3 bytes less),
/// so that a stream can be printed as it comes. Bytes that can never become valid are not held back.
std::size_t complete_utf8_prefix(std::string_view bytes) noexcept;

}  // namespace llmtool
