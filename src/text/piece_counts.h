// The distinct pieces of a text and how often each occurs: what BPE training works on. Not here: how text is
// split (pretokenizer.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "text/corpus.h"
#include "text/pretokenizer.h"

namespace llmtool {

struct CountedPiece {
  std::string_view text;  ///< Where it first occurs; lives as long as the text counted, or the PieceCounts.
  std::int64_t count;

  bool operator==(const CountedPiece&) const = default;
};

/// By descending count, then in order of first occurrence. Split::none: the whole text, once. Can be
/// interrupted (base/interrupt.h).
std::vector<CountedPiece> count_pieces(std::string_view text, Split split);
/// The same, counted on all threads of the pool.
std::vector<CountedPiece> count_pieces(std::string_view text, Split split, ThreadPool& pool);

/// A table of pieces that are added one by one.
class PieceCounts {
 public:
  /// `own_bytes`: the table keeps a copy of each distinct piece; else what is added must stay where it is.
  explicit PieceCounts(bool own_bytes) : own_bytes_(own_bytes), slots_(std::size_t{1} << 6) {}

  /// `place` is where in the whole text the piece stands.
  void add(std::string_view text, std::uint64_t place, std::int64_t times = 1);
  /// Adds all of another table, which is empty after that.
  void take(PieceCounts& other);
  std::vector<CountedPiece> sorted() const;

 private:
  static constexpr std::uint32_t free = ~std::uint32_t{0};
  struct Piece {
    std::string_view text;
    std::int64_t count;
    std::uint64_t place;
  };
  struct Slot {
    std::uint32_t index = free;
    std::uint32_t tag = 0;  ///< The hash's lower half, to compare before the bytes.
  };
  std::size_t home(std::uint64_t hash) const noexcept {
    return static_cast<std::size_t>(hash >> 24) & (slots_.size() - 1);
  }
  void grow();
  std::string_view kept(std::string_view text);

  bool own_bytes_;
  std::vector<Slot> slots_;
  std::vector<Piece> pieces_;
  std::vector<std::unique_ptr<char[]>> blocks_;  ///< The copies, one behind the other.
  std::size_t block_left_ = 0;
  char* block_at_ = nullptr;
};

/// Counts the pieces of a source on all threads of the pool, in memory for a few blocks of text and the
/// table. The table is the same for any number of threads. Not for Split::none. `progress` is told the bytes
/// read.
PieceCounts count_source(TextSource& source, Split split, ThreadPool& pool,
                         const std::function<void(std::uint64_t)>& progress);

}  // namespace llmtool
