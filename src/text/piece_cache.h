// Remembers the ids of pieces seen lately, so that a word is merged once and copied after that. Fixed size,
// one slot per hash, the newer piece wins. Short pieces lie with their ids in one cache line; of longer ones
// the slot says where in the text and in its ids they stand. Lives for one text.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text/piece_hash.h"

namespace llmtool {

class PieceCache {
 public:
  static constexpr std::size_t short_bytes = 16;  ///< The longest piece that fits into a ShortSlot,
  static constexpr std::size_t short_ids = 11;    ///< and its most ids.

  /// For a text of that many bytes: small texts get small tables, large ones 2.5 MiB.
  explicit PieceCache(std::size_t text_bytes)
      : short_(std::bit_ceil(std::clamp<std::size_t>(text_bytes / 8, 16, std::size_t{1} << 15))),
        long_(std::bit_ceil(std::clamp<std::size_t>(text_bytes / 16, 16, std::size_t{1} << 14))) {}

  struct alignas(64) ShortSlot {
    std::uint64_t key[2] = {0, 0};  ///< The piece's bytes, then zeros.
    std::uint8_t bytes = 0;         ///< Of the piece; 0: free.
    std::uint8_t count = 0;
    std::int32_t ids[short_ids] = {};
  };
  struct Key {
    std::uint64_t low, high;
  };

  /// A piece of 1 to short_bytes bytes as two numbers. `left` bytes may be read from its beginning on.
  static Key key_of(std::string_view piece, std::size_t left) noexcept {
    Key key{0, 0};
    if (left >= short_bytes) {
      std::memcpy(&key, piece.data(), short_bytes);
      // Whole words of ones and zeros in place of a branch on the size.
      const auto size = static_cast<unsigned>(piece.size());
      if (std::endian::native == std::endian::little) {
        key.low &= size >= 8 ? ~std::uint64_t{0} : ~(~std::uint64_t{0} << (8 * size));
        key.high &= size <= 8 ? 0 : size >= 16 ? ~std::uint64_t{0} : ~(~std::uint64_t{0} << (8 * (size - 8)));
        return key;
      }
    }
    key = {0, 0};
    std::memcpy(&key, piece.data(), piece.size());
    return key;
  }

  ShortSlot& short_slot(const Key& key) noexcept {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t h = (key.low ^ (key.high << 32 | key.high >> 32)) * odd;
    h = (h ^ h >> 32 ^ key.high) * odd;
    return short_[static_cast<std::size_t>(h >> 40) & (short_.size() - 1)];
  }
  static bool holds(const ShortSlot& slot, const Key& key, std::size_t bytes) noexcept {
    return slot.key[0] == key.low && slot.key[1] == key.high && slot.bytes == bytes;
  }

  struct LongSlot {
    std::string_view piece;   ///< In the text itself; empty: free.
    std::uint32_t count = 0;  ///< Its ids,
    std::size_t at = 0;       ///< and where they begin.
  };
  LongSlot& long_slot(std::string_view piece) noexcept {
    return long_[static_cast<std::size_t>(piece_hash(piece) >> 40) & (long_.size() - 1)];
  }

 private:
  std::vector<ShortSlot> short_;
  std::vector<LongSlot> long_;
};

}  // namespace llmtool
