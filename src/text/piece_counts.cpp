// PieceCounts: an open hash table of indices into the pieces; and counting a source, each thread into a table
// of its own.
#include "text/piece_counts.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "base/interrupt.h"
#include "text/piece_hash.h"

namespace llmtool {

void PieceCounts::add(std::string_view text, std::uint64_t place, std::int64_t times) {
  const std::uint64_t hash = piece_hash(text);
  const auto tag = static_cast<std::uint32_t>(hash);
  for (std::size_t i = home(hash);; i = (i + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[i];
    if (slot.index == free) {
      LLMTOOL_CHECK(pieces_.size() < free, "too many distinct pieces");
      slot = {static_cast<std::uint32_t>(pieces_.size()), tag};
      pieces_.push_back({own_bytes_ ? kept(text) : text, times, place});
      if (3 * pieces_.size() > 2 * slots_.size()) grow();
      return;
    }
    if (slot.tag == tag && pieces_[slot.index].text == text) {
      Piece& piece = pieces_[slot.index];
      piece.count += times;
      piece.place = std::min(piece.place, place);
      return;
    }
  }
}

std::string_view PieceCounts::kept(std::string_view text) {
  constexpr std::size_t block_bytes = std::size_t{1} << 18;
  if (text.size() > block_left_) {
    const std::size_t size = std::max(block_bytes, text.size());
    blocks_.emplace_back(new char[size]);  // not zeroed: a part that is never written to takes no memory
    block_at_ = blocks_.back().get();
    block_left_ = size;
  }
  std::memcpy(block_at_, text.data(), text.size());
  const std::string_view copy(block_at_, text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return copy;
}

void PieceCounts::grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  for (std::uint32_t index = 0; index < pieces_.size(); ++index) {
    const std::uint64_t hash = piece_hash(pieces_[index].text);
    std::size_t i = home(hash);
    while (slots_[i].index != free) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {index, static_cast<std::uint32_t>(hash)};
  }
}

void PieceCounts::take(PieceCounts& other) {
  for (const Piece& piece : other.pieces_) add(piece.text, piece.place, piece.count);
  other = PieceCounts(other.own_bytes_);
}

std::vector<CountedPiece> PieceCounts::sorted() const {
  std::vector<std::uint32_t> order(pieces_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
    const Piece &a = pieces_[i], &b = pieces_[j];
    return a.count != b.count ? a.count > b.count : a.place < b.place;
  });
  std::vector<CountedPiece> out;
  out.reserve(order.size());
  for (const std::uint32_t i : order) out.push_back({pieces_[i].text, pieces_[i].count});
  return out;
}

std::vector<CountedPiece> count_pieces(std::string_view text, Split split) {
  PieceCounts counts(false);
  std::uint32_t since = 0;
  for (PieceScanner scanner(text, split); !scanner.done();) {
    const std::string_view piece = scanner.next();
    counts.add(piece, static_cast<std::uint64_t>(piece.data() - text.data()));
    if (++since % (1u << 16) == 0) throw_if_interrupted();
  }
  return counts.sorted();
}

namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 18;

std::size_t block_bytes_of(const ThreadPool& pool) {
  return 4 * part_bytes * static_cast<std::size_t>(pool.size());
}

/// About `wanted` bytes from the front of `text`, up to where a piece ends: more where a piece is longer.
std::string_view front_of(std::string_view text, std::size_t wanted, Split split) {
  for (; wanted < text.size(); wanted *= 2)
    if (const std::size_t size = last_border(text.substr(0, wanted), split); size > 0)
      return text.substr(0, size);
  return text;
}

/// A table for each thread of a pool.
class PieceTables {
 public:
  PieceTables(ThreadPool& pool, Split split, bool own_bytes) : pool_(pool), split_(split) {
    for (int i = 0; i < pool.size(); ++i) tables_.emplace_back(own_bytes);
  }
  /// Whole pieces, which begin at `place` in the text.
  void add(std::string_view block, std::uint64_t place) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at < block.size(); at += parts.back().size())
      parts.push_back(front_of(block.substr(at), part_bytes, split_));
    std::vector<std::exception_ptr> failures(parts.size());
    pool_.parallel_for(std::ssize(parts), [&](std::int64_t chunk, int worker) noexcept {
      PieceCounts& table = tables_[static_cast<std::size_t>(worker)];
      try {
        for (PieceScanner scanner(parts[static_cast<std::size_t>(chunk)], split_); !scanner.done();) {
          const std::string_view piece = scanner.next();
          table.add(piece, place + static_cast<std::uint64_t>(piece.data() - block.data()));
        }
      } catch (...) {
        failures[static_cast<std::size_t>(chunk)] = std::current_exception();
      }
    });
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }
  PieceCounts joined() {
    for (std::size_t i = 1; i < tables_.size(); ++i) tables_.front().take(tables_[i]);
    return std::move(tables_.front());
  }

 private:
  ThreadPool& pool_;
  Split split_;
  std::vector<PieceCounts> tables_;
};

}  // namespace

std::vector<CountedPiece> count_pieces(std::string_view text, Split split, ThreadPool& pool) {
  if (split == Split::none || pool.size() == 1) return count_pieces(text, split);
  PieceTables tables(pool, split, false);
  for (std::size_t at = 0; at < text.size();) {
    throw_if_interrupted();
    const std::string_view block = front_of(text.substr(at), block_bytes_of(pool), split);
    tables.add(block, at);
    at += block.size();
  }
  return tables.joined().sorted();
}

PieceCounts count_source(TextSource& source, Split split, ThreadPool& pool,
                         const std::function<void(std::uint64_t)>& progress) {
  LLMTOOL_CHECK(split != Split::none, "the whole text would be one piece");
  PieceTables tables(pool, split, true);
  std::string text;  // read and not yet counted
  std::uint64_t counted = 0;
  for (bool ended = false; !ended;) {
    std::size_t cut = 0;
    for (std::size_t wanted = block_bytes_of(pool); cut == 0 && !ended; wanted *= 2) {
      if (text.size() < wanted) ended = !source.read(text, wanted - text.size());
      throw_if_interrupted();
      cut = last_border(text, split);
    }
    if (ended) cut = text.size();
    tables.add(std::string_view(text).substr(0, cut), counted);
    text.erase(0, cut);
    counted += cut;
    if (progress) progress(counted);
  }
  return tables.joined();
}

}  // namespace llmtool
