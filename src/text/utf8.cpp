// utf8_front(): the table of well-formed sequences (Unicode, table 3-7) as code.
#include "text/utf8.h"

namespace llmtool {

Utf8Unit utf8_front(std::string_view bytes) noexcept {
  using Kind = Utf8Unit::Kind;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return {Kind::complete, 1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {Kind::invalid, 1, 0};

  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte carries every restriction beyond "10xxxxxx".
  unsigned low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;

  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {Kind::truncated, i, 0};
    const unsigned byte = at(i);
    if (byte < low || byte > high) return {Kind::invalid, i, 0};
    value = value << 6 | (byte & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {Kind::complete, length, value};
}

}  // namespace llmtool
