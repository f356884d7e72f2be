// UTF-8, one code point at a time (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). Not
// here: anything that knows what a code point means.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmtool {

/// What the bytes at one place are.
struct Utf8Unit {
  enum class Kind {
    complete,   ///< `length` bytes (1 to 4) are the code point `value`.
    truncated,  ///< All `length` bytes left are the beginning of a code point; more could complete it.
    invalid,    ///< The first `length` bytes (at least 1) can never be part of a valid sequence.
  };
  Kind kind;
  std::size_t length;
  char32_t value;
};

/// Looks at the front of `bytes`, which must not be empty. The length of an invalid unit is that of the
/// longest prefix that could still have been valid, as Unicode recommends for replacement (section 3.9), at
/// least 1.
Utf8Unit utf8_front(std::string_view bytes) noexcept;

}  // namespace llmtool
