// The table, made once.
#include "checkpoint/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace llmtool {
namespace {

struct Alphabet {
  std::array<char32_t, 256> character{};
  std::array<std::int16_t, 0x180> byte{};  // -1: no character of the alphabet

  Alphabet() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      character[b] = itself ? b : next++;
      byte[character[b]] = static_cast<std::int16_t>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet table;
  return table;
}

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) append_utf8(out, alphabet().character[static_cast<unsigned char>(c)]);
  return out;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint unit = decode_utf8(text, at);
    if (unit.length == 0 || unit.value >= alphabet().byte.size() || alphabet().byte[unit.value] < 0)
      return std::nullopt;
    out += static_cast<char>(static_cast<unsigned char>(alphabet().byte[unit.value]));
    at += static_cast<std::size_t>(unit.length);
  }
  return out;
}

}  // namespace llmtool
