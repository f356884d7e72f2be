// CharClasses: the ranges unfolded once into a table of blocks, equal blocks shared.
#include "text/char_class.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/utf8.h"
#include "text/unicode_tables.h"

namespace llmtool {
namespace {

constexpr char32_t code_points = 0x110000;
constexpr CodePointRange white_space[] = {
    {0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
constexpr CodePointRange ascii_letters[] = {{'A', 'Z'}, {'a', 'z'}};
constexpr CodePointRange ascii_numbers[] = {{'0', '9'}};

void mark(std::vector<CharClass>& classes, std::span<const CodePointRange> ranges, CharClass kind) {
  for (const auto& [first, last] : ranges) std::fill(&classes[first], &classes[last] + 1, kind);
}

}  // namespace

const CharClasses& CharClasses::table() {
  static const CharClasses only;
  return only;
}

CharClasses::CharClasses() {
  std::vector<CharClass> classes(code_points, CharClass::other);
  mark(classes, unicode_letters(), CharClass::letter);
  mark(classes, unicode_numbers(), CharClass::number);
  mark(classes, ascii_letters, CharClass::letter);
  mark(classes, ascii_numbers, CharClass::number);
  mark(classes, white_space, CharClass::space);

  std::map<std::vector<CharClass>, std::size_t> known;
  for (std::size_t b = 0; b < block_of_.size(); ++b) {
    const auto begin = classes.begin() + static_cast<std::ptrdiff_t>(b << 8);
    const auto [found, is_new] = known.emplace(std::vector<CharClass>(begin, begin + 256), known.size());
    if (is_new) blocks_.insert(blocks_.end(), begin, begin + 256);
    block_of_[b] = static_cast<std::uint8_t>(found->second);
  }
  LLMTOOL_CHECK(known.size() <= 256, known.size(), " distinct blocks");
}

ClassedChar CharClasses::beyond_ascii(std::string_view text, std::size_t at) const noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned lead = byte(0);
  const std::size_t left = text.size() - at;
  // The two most common forms without a call; what they leave open is decoded strictly.
  if (lead >= 0xC2 && lead < 0xE0) {
    if (left < 2 || (byte(1) & 0xC0u) != 0x80) return {CharClass::other, 1};
    return {of((lead & 0x1Fu) << 6 | (byte(1) & 0x3Fu)), 2};
  }
  if (lead > 0xE0 && lead < 0xF0 && lead != 0xED) {
    if (left < 3 || (byte(1) & 0xC0u) != 0x80 || (byte(2) & 0xC0u) != 0x80) return {CharClass::other, 1};
    return {of((lead & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu)), 3};
  }
  const CodePoint decoded = decode_utf8(text, at);
  if (decoded.length == 0) return {CharClass::other, 1};
  return {of(decoded.value), static_cast<std::uint8_t>(decoded.length)};
}

}  // namespace llmtool
