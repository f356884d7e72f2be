// A 64-bit FNV-1a hash fed piece by piece: tells whether two tokenizers are the same. Not for security.
#pragma once
#include <cstdint>
#include <string_view>

namespace llmtool {

class Fingerprint {
 public:
  /// Adds a number as eight bytes, lowest first.
  void add(std::uint64_t number) noexcept {
    for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  /// Adds a text, its length first, so that ("ab","c") and ("a","bc") differ.
  void add(std::string_view text) noexcept {
    add(std::uint64_t{text.size()});
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  /// Adds bytes as they are: several calls give what one with all of them gives.
  void add_bytes(std::string_view bytes) noexcept {
    for (const char c : bytes) byte(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const noexcept { return hash_; }

 private:
  void byte(unsigned char b) noexcept { hash_ = (hash_ ^ b) * 0x100000001B3u; }
  std::uint64_t hash_ = 0xCBF29CE484222325u;
};

}  // namespace llmtool
