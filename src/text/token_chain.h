// A text as a chain of tokens that merge in place: what BPE training and encoding both work on. One 32-bit
// slot per byte and no links: a token's id stands in the slot of its first byte and, complemented, in that of
// its last, so that both neighbours are found from the lengths. Several texts can stand in one chain, with a
// slot between them that no merge crosses. Not here: which pairs merge.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmtool {

/// The id of each byte's token.
using ByteIds = std::array<std::int32_t, 256>;

/// Ids that are the bytes' values.
constexpr ByteIds plain_byte_ids() noexcept {
  ByteIds ids{};
  for (std::size_t b = 0; b < 256; ++b) ids[b] = static_cast<std::int32_t>(b);
  return ids;
}

class TokenChain {
 public:
  using Position = std::uint32_t;
  /// "No neighbour".
  static constexpr Position none = ~Position{0};
  static constexpr std::size_t max_bytes = none;

  /// Each byte a token. world_error if there are more than max_bytes bytes (4 GiB), separators included.
  TokenChain(std::span<const std::string_view> texts, const ByteIds& ids) {
    std::size_t bytes = texts.empty() ? 0 : texts.size() - 1;
    for (const std::string_view text : texts) bytes += text.size();
    if (bytes > max_bytes) {
      throw world_error(cat("[bpe] a text of ", bytes,
                            " bytes is too long to be merged in one piece: at most ", max_bytes, " bytes"),
                        "split it into several files and encode them one by one");
    }
    slots_.reserve(bytes);
    for (const std::string_view text : texts) {
      if (!slots_.empty()) slots_.push_back(separator);
      for (const char c : text) slots_.push_back(ids[static_cast<unsigned char>(c)]);
    }
  }
  TokenChain(std::string_view text, const ByteIds& ids) : TokenChain(std::span(&text, 1), ids) {}

  Position size() const noexcept { return static_cast<Position>(slots_.size()); }

  /// The id of the token that begins at a byte; negative if none begins there.
  std::int32_t at(Position p) const noexcept { return slots_[p]; }

  /// Where the next token begins, given the byte lengths of all tokens by id.
  Position next(Position p, std::span<const std::uint32_t> lengths) const noexcept {
    const std::size_t q = std::size_t{p} + lengths[static_cast<std::size_t>(slots_[p])];
    return q < slots_.size() && slots_[q] != separator ? static_cast<Position>(q) : none;
  }
  Position previous(Position p, std::span<const std::uint32_t> lengths) const noexcept {
    if (p == 0) return none;
    const std::int32_t last = slots_[p - 1];
    if (last == separator) return none;
    return last >= 0 ? p - 1 : p - lengths[static_cast<std::size_t>(~last)];
  }

  /// The tokens at `p` and at `q`, the next one, become the token `id`.
  void merge(Position p, Position q, std::int32_t id, std::span<const std::uint32_t> lengths) noexcept {
    const Position last = q + lengths[static_cast<std::size_t>(slots_[q])] - 1;
    slots_[q - 1] = inside;
    slots_[q] = inside;
    slots_[last] = ~id;
    slots_[p] = id;
  }

  /// Appends the ids in order, of a chain of one text.
  void append_ids(std::span<const std::uint32_t> lengths, std::vector<std::int32_t>& out) const {
    for (std::size_t p = 0; p < slots_.size(); p += lengths[static_cast<std::size_t>(slots_[p])]) {
      out.push_back(slots_[p]);
    }
  }

 private:
  static constexpr std::int32_t inside = std::numeric_limits<std::int32_t>::min();
  static constexpr std::int32_t separator = inside + 1;
  std::vector<std::int32_t> slots_;
};

}  // namespace llmtool
