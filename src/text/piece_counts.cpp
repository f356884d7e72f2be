// count_pieces(): one pass with an open hash table of indices into the result.
#include "text/piece_counts.h"

#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"
#include "text/piece_hash.h"

namespace llmtool {
namespace {

class Counter {
 public:
  Counter() : slots_(std::size_t{1} << 12) {}

  void add(std::string_view text) {
    const std::uint64_t hash = piece_hash(text);
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t i = home(hash);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.index == free) {
        LLMTOOL_CHECK(pieces_.size() < free, "too many distinct pieces");
        slot = {static_cast<std::uint32_t>(pieces_.size()), tag};
        pieces_.push_back({text, 1});
        if (2 * pieces_.size() > slots_.size()) grow();
        return;
      }
      if (slot.tag == tag && pieces_[slot.index].text == text) {
        ++pieces_[slot.index].count;
        return;
      }
    }
  }

  std::vector<CountedPiece> take() { return std::move(pieces_); }

 private:
  static constexpr std::uint32_t free = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t index = free;
    std::uint32_t tag = 0;  ///< The hash's lower half, to compare before the bytes.
  };

  std::size_t home(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash >> 24) & (slots_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, Slot{});
    for (std::uint32_t index = 0; index < pieces_.size(); ++index) {
      const std::uint64_t hash = piece_hash(pieces_[index].text);
      std::size_t i = home(hash);
      while (slots_[i].index != free) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {index, static_cast<std::uint32_t>(hash)};
    }
  }

  std::vector<Slot> slots_;
  std::vector<CountedPiece> pieces_;
};

}  // namespace

std::vector<CountedPiece> count_pieces(std::string_view text, Split split) {
  Counter counter;
  std::uint32_t since = 0;
  for (PieceScanner scanner(text, split); !scanner.done();) {
    counter.add(scanner.next());
    if (++since % (1u << 16) == 0) throw_if_interrupted();
  }
  std::vector<CountedPiece> pieces = counter.take();
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const CountedPiece& a, const CountedPiece& b) { return a.count > b.count; });
  return pieces;
}

}  // namespace llmtool
