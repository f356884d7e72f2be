// train_bpe(): the distinct pieces of the text in one chain of tokens, for each pair its count, weighted by
// how often the piece occurs, and the places it was seen at, and a heap over the counts.
#include "text/bpe_trainer.h"

#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "text/pair_map.h"
#include "text/piece_counts.h"
#include "text/token_chain.h"
#include "text/tokenizer.h"

namespace llmtool {
namespace {

using Position = TokenChain::Position;

void check(const BpeTrainOptions& options) {
  const auto least = static_cast<std::int64_t>(256 + options.specials.size());
  if (options.vocab_size < least) {
    throw request_error(cat("[bpe] vocab_size ", options.vocab_size, " is too small: the 256 bytes",
                            options.specials.empty() ? "" : " and the special tokens", " alone are ", least));
  }
  if (options.vocab_size > max_vocab_size) {
    throw request_error(
        cat("[bpe] vocab_size ", options.vocab_size, " is too large: at most ", max_vocab_size));
  }
  if (options.min_frequency < 1) {
    throw request_error(cat("[bpe] min_frequency ", options.min_frequency, " must be at least 1"));
  }
  split_by_name(options.pretokenizer);
}

class Trainer {
 public:
  /// Pieces of equal count next to each other.
  explicit Trainer(std::span<const CountedPiece> pieces)
      : chain_(texts_of(pieces), plain_byte_ids()), lengths_(256, 1) {
    for (int byte = 0; byte < 256; ++byte) {
      tokens_.emplace_back(1, static_cast<char>(static_cast<unsigned char>(byte)));
      names_.insert(tokens_.back());
    }
    std::size_t end = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto begin = static_cast<Position>(i == 0 ? 0 : end + 1);
      end = begin + pieces[i].text.size();
      tokens_in_text_ += pieces[i].text.size() * static_cast<std::uint64_t>(pieces[i].count);
      for (Position p = begin; p + 1 < end; ++p) add(p, p + 1, pieces[i].count);
      if (i + 1 == pieces.size() || pieces[i + 1].count != pieces[i].count)
        weights_.push_back({end, pieces[i].count});
    }
    for (const std::uint64_t key : fresh_) heap_.push({pair_of(key)->count, key});
  }

  /// The best pair that may be merged, taken out of the heap; false if none occurs `min_count` times.
  bool take_best(std::int64_t min_count, std::uint64_t& key) {
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      const Pair* found = pair_of(best.key);
      if (found == nullptr) continue;
      const std::int64_t count = found->count;
      // Counts only fall after a pair is pushed, so an entry that is still right is the maximum of all.
      if (count != best.count) {
        if (count >= min_count) heap_.push({count, best.key});
        continue;
      }
      if (count < min_count) return false;
      if (!may_merge(best.key)) {
        forget(best.key);
        banned_.insert(best.key);
        continue;
      }
      key = best.key;
      return true;
    }
    return false;
  }

  /// Merges every occurrence, left to right, as the next token.
  void merge(std::uint64_t key) {
    const std::int32_t left = left_of(key), right = right_of(key);
    const auto id = static_cast<std::int32_t>(tokens_.size());
    tokens_.push_back(joined(key));
    names_.insert(tokens_.back());
    bytes_ += tokens_.back().size();
    lengths_.push_back(static_cast<std::uint32_t>(tokens_.back().size()));

    std::vector<Position> places = std::move(pair_of(key)->places);
    std::sort(places.begin(), places.end());
    fresh_.clear();
    for (const Position p : places) {
      // A place is out of date where an earlier merge, perhaps of this very loop (`aaa`), took one of the
      // two.
      if (chain_.at(p) != left) continue;
      const Position q = chain_.next(p, lengths_);
      if (q == TokenChain::none || chain_.at(q) != right) continue;
      const Position before = chain_.previous(p, lengths_), after = chain_.next(q, lengths_);
      const std::int64_t weight = weight_at(p);
      if (before != TokenChain::none) remove(before, p, weight);
      if (after != TokenChain::none) remove(q, after, weight);
      chain_.merge(p, q, id, lengths_);
      tokens_in_text_ -= static_cast<std::uint64_t>(weight);
      if (before != TokenChain::none) add(before, p, weight);
      if (after != TokenChain::none) add(p, after, weight);
    }
    forget(key);
    // Only pairs with the new token can have grown, and each of them is new.
    for (const std::uint64_t k : fresh_) {
      const Pair* found = pair_of(k);
      if (found != nullptr) heap_.push({found->count, k});
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// How many tokens the whole text is, each piece as often as it occurs.
  std::uint64_t tokens_in_text() const { return tokens_in_text_; }

 private:
  struct Pair {
    std::int64_t count = 0;
    std::vector<Position> places;  ///< Left positions, some out of date.
  };
  struct Candidate {
    std::int64_t count;
    std::uint64_t key;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : key > other.key;
    }
  };

  /// Up to which position (exclusive) pieces have this count.
  struct Weight {
    std::size_t end;
    std::int64_t count;
  };

  static std::vector<std::string_view> texts_of(std::span<const CountedPiece> pieces) {
    std::vector<std::string_view> texts;
    texts.reserve(pieces.size());
    for (const CountedPiece& piece : pieces) texts.push_back(piece.text);
    return texts;
  }
  std::int64_t weight_at(Position p) const {
    if (weights_.size() == 1) return weights_.front().count;
    return std::upper_bound(weights_.begin(), weights_.end(), std::size_t{p},
                            [](std::size_t at, const Weight& w) { return at < w.end; })
        ->count;
  }

  Pair* pair_of(std::uint64_t key) {
    const std::int32_t index = index_.find(key);
    return index < 0 ? nullptr : &pairs_[static_cast<std::size_t>(index)];
  }
  Pair& pair_to_grow(std::uint64_t key) {
    if (Pair* known = pair_of(key)) return *known;
    fresh_.push_back(key);
    if (free_.empty()) {
      LLMTOOL_CHECK(pairs_.size() < std::size_t{1} << 31, "too many pairs");
      index_.insert(key, static_cast<std::int32_t>(pairs_.size()));
      return pairs_.emplace_back();
    }
    const std::int32_t index = free_.back();
    free_.pop_back();
    index_.insert(key, index);
    return pairs_[static_cast<std::size_t>(index)];
  }
  void forget(std::uint64_t key) {
    const std::int32_t index = index_.find(key);
    if (index < 0) return;
    index_.erase(key);
    pairs_[static_cast<std::size_t>(index)] = Pair{};
    free_.push_back(index);
  }

  std::string joined(std::uint64_t key) const {
    return tokens_[static_cast<std::size_t>(left_of(key))] + tokens_[static_cast<std::size_t>(right_of(key))];
  }
  bool may_merge(std::uint64_t key) const {
    const std::size_t size = std::size_t{lengths_[static_cast<std::size_t>(left_of(key))]} +
                             lengths_[static_cast<std::size_t>(right_of(key))];
    return size <= max_token_bytes && bytes_ + size <= max_vocab_bytes && !names_.contains(joined(key));
  }

  void add(Position p, Position q, std::int64_t weight) {
    const std::uint64_t key = pair_key(chain_.at(p), chain_.at(q));
    if (!banned_.empty() && banned_.contains(key)) return;
    Pair& pair = pair_to_grow(key);
    pair.count += weight;
    pair.places.push_back(p);
  }
  void remove(Position p, Position q, std::int64_t weight) {
    const std::uint64_t key = pair_key(chain_.at(p), chain_.at(q));
    Pair* found = pair_of(key);
    if (found == nullptr) return;
    found->count -= weight;
    // At zero no place is valid any more, so nothing is lost with the pair; should it come back, it starts
    // anew.
    if (found->count == 0) forget(key);
  }

  TokenChain chain_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::string> tokens_;
  std::unordered_set<std::string> names_;
  std::size_t bytes_ = 256;
  std::uint64_t tokens_in_text_ = 0;
  PairMap index_;  ///< Pair -> where it is in pairs_.
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> free_;            ///< Places in pairs_ that are not in use.
  std::vector<Weight> weights_;               ///< By position, ascending.
  std::unordered_set<std::uint64_t> banned_;  ///< Pairs passed over for good.
  std::vector<std::uint64_t> fresh_;          ///< Pairs first seen since it was last cleared.
  std::priority_queue<Candidate> heap_;
};

BpeTraining learned(Trainer trainer, const BpeTrainOptions& options, const BpeTrainProgress& progress) {
  BpeTraining result;
  BpeModel& model = result.model;
  model.specials = options.specials;
  model.pretokenizer = options.pretokenizer;
  model.min_frequency = options.min_frequency;
  result.bytes = trainer.tokens_in_text();
  const std::int64_t target = options.vocab_size - static_cast<std::int64_t>(options.specials.size());
  std::uint64_t best = 0;
  while (trainer.size() < target && trainer.take_best(options.min_frequency, best)) {
    throw_if_interrupted();
    trainer.merge(best);
    model.merges.emplace_back(left_of(best), right_of(best));
    if (progress.merged) progress.merged(trainer.size(), target);
  }
  result.tokens = trainer.tokens_in_text();
  return result;
}

}  // namespace

BpeModel train_bpe(std::string_view text, const BpeTrainOptions& options) {
  ThreadPool alone(1);
  return train_bpe(text, options, alone);
}

BpeModel train_bpe(std::string_view text, const BpeTrainOptions& options, ThreadPool& pool) {
  check(options);
  if (text.empty()) throw world_error("[bpe] the text to learn merges from is empty");
  return learned(Trainer(count_pieces(text, split_by_name(options.pretokenizer), pool)), options, {}).model;
}

BpeTraining train_bpe(TextSource& source, const BpeTrainOptions& options, ThreadPool& pool,
                      const BpeTrainProgress& progress) {
  check(options);
  const Split split = split_by_name(options.pretokenizer);
  if (split == Split::none) {
    std::string text;
    while (source.read(text, std::size_t{1} << 24)) continue;
    return learned(Trainer(count_pieces(text, split)), options, progress);
  }
  // The table of pieces goes once the trainer has its chain of them.
  const auto trainer = [&] {
    const PieceCounts counts = count_source(source, split, pool, progress.counted);
    return Trainer(counts.sorted());
  };
  return learned(trainer(), options, progress);
}

}  // namespace llmtool
