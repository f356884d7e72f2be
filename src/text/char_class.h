// The four classes of characters that splitting text into words tells apart. Not here: any other Unicode
// property.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace llmtool {

enum class CharClass : std::uint8_t {
  other,   ///< Marks, punctuation, symbols, unassigned code points, and bytes that are not UTF-8.
  letter,  ///< General category L.
  number,  ///< General category N.
  space,   ///< The property White_Space.
};

/// One character of a text: its class and how many bytes it takes.
struct ClassedChar {
  CharClass kind;
  std::uint8_t length;
};

/// The classes of all code points in two steps, 256 code points to a block. Unicode 16.0.
class CharClasses {
 public:
  static const CharClasses& table();

  CharClass of(char32_t c) const noexcept {
    return blocks_[std::size_t{block_of_[c >> 8]} << 8 | (c & 0xFFu)];
  }
  CharClass of_ascii(unsigned char c) const noexcept { return blocks_[c]; }

  /// The character at `at` < text.size(). A byte that begins no valid sequence is an `other` of length 1.
  ClassedChar at(std::string_view text, std::size_t at) const noexcept {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) return {of_ascii(lead), 1};
    return beyond_ascii(text, at);
  }

 private:
  CharClasses();
  ClassedChar beyond_ascii(std::string_view text, std::size_t at) const noexcept;

  std::array<std::uint8_t, 0x1100> block_of_{};
  std::vector<CharClass> blocks_;  ///< Block 0 is that of ASCII and Latin-1.
};

}  // namespace llmtool
