// Remembers where in the ids of a text the pieces seen last were encoded, so that a word is merged once and
// copied after that. Fixed size, one slot per hash, the newer piece wins. Lives for one text.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/piece_hash.h"

namespace llmtool {

class PieceCache {
 public:
  /// For a text of that many bytes: small texts get small tables, large ones 1.5 MiB.
  explicit PieceCache(std::size_t text_bytes)
      : slots_(std::bit_ceil(std::clamp<std::size_t>(text_bytes / 8, 16, std::size_t{1} << 16))) {}

  struct Slot {
    std::string_view piece;   ///< In the text itself; empty: free.
    std::uint32_t count = 0;  ///< Its ids,
    std::size_t at = 0;       ///< and where they begin.
  };

  /// The slot where the piece is or is to be put.
  Slot& slot(std::string_view piece) noexcept {
    return slots_[static_cast<std::size_t>(piece_hash(piece) >> 40) & (slots_.size() - 1)];
  }

 private:
  std::vector<Slot> slots_;
};

}  // namespace llmtool
