// A hash of short byte strings for the tables of pieces. Not for files or for security: it may change.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace llmtool {

/// Eight bytes at a time; the upper half of the result depends on every byte.
inline std::uint64_t piece_hash(std::string_view piece) noexcept {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  std::uint64_t h = piece.size() * odd;
  const char* p = piece.data();
  std::size_t left = piece.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * odd;
    h ^= h >> 29;
  }
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < left; ++i) rest = rest << 8 | static_cast<unsigned char>(p[i]);
  h = (h ^ rest) * odd;
  h ^= h >> 32;
  return h * odd;
}

}  // namespace llmtool
