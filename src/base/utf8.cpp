// UTF-8 decoding by the table of well-formed sequences (The Unicode Standard, table 3-7).
#include "base/utf8.h"

#include <algorithm>

#include "base/error.h"

namespace llmtool {
namespace {

/// What a lead byte asks for: the length of its sequence and the bounds of the second byte.
struct Lead {
  int length;
  unsigned char low, high;
};

Lead lead_of(unsigned char b) noexcept {
  if (b < 0x80) return {1, 0, 0};
  if (b < 0xC2) return {0, 0, 0};  // a continuation byte, or an overlong two-byte form
  if (b < 0xE0) return {2, 0x80, 0xBF};
  if (b == 0xE0) return {3, 0xA0, 0xBF};
  if (b == 0xED) return {3, 0x80, 0x9F};  // above are the surrogates
  if (b < 0xF0) return {3, 0x80, 0xBF};
  if (b == 0xF0) return {4, 0x90, 0xBF};
  if (b < 0xF4) return {4, 0x80, 0xBF};
  if (b == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

/// How many bytes from `at` fit the sequence that starts there (0: none does).
int matching_bytes(std::string_view bytes, std::size_t at, const Lead& lead) noexcept {
  if (lead.length == 0) return 0;
  const int available = static_cast<int>(std::min<std::size_t>(bytes.size() - at, 4));
  int n = 1;
  for (; n < lead.length && n < available; ++n) {
    const auto b = static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(n)]);
    const unsigned char low = n == 1 ? lead.low : 0x80;
    const unsigned char high = n == 1 ? lead.high : 0xBF;
    if (b < low || b > high) break;
  }
  return n;
}

}  // namespace

CodePoint decode_utf8(std::string_view bytes, std::size_t at) noexcept {
  if (at >= bytes.size()) return {};
  const auto first = static_cast<unsigned char>(bytes[at]);
  const Lead lead = lead_of(first);
  if (lead.length == 0 || matching_bytes(bytes, at, lead) < lead.length) return {};
  if (lead.length == 1) return {first, 1};
  char32_t value = static_cast<char32_t>(first & (0x7F >> lead.length));
  for (int i = 1; i < lead.length; ++i) {
    value = value << 6 | (static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]) & 0x3F);
  }
  return {value, lead.length};
}

void append_utf8(std::string& out, char32_t value) {
  LLMTOOL_CHECK(value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF), "code point ",
                static_cast<std::uint32_t>(value));
  const auto put = [&out](char32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | value >> 6);
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3F));
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

bool is_utf8(std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    if (c.length == 0) return false;
    at += static_cast<std::size_t>(c.length);
  }
  return true;
}

std::size_t complete_utf8_prefix(std::string_view bytes) noexcept {
  const std::size_t size = bytes.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, size); ++back) {
    const std::size_t at = size - back;
    const Lead lead = lead_of(static_cast<unsigned char>(bytes[at]));
    if (lead.length == 0) continue;  // a continuation byte: its lead is further left
    const bool cut_off = static_cast<std::size_t>(lead.length) > back &&
                         matching_bytes(bytes, at, lead) == static_cast<int>(back);
    return cut_off ? at : size;
  }
  return size;
}

}  // namespace llmtool
