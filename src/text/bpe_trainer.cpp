// train_bpe(): a chain of tokens, for each pair its count and the places it was seen at, and a heap over the
// counts.
#include "text/bpe_trainer.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "text/pair_map.h"
#include "text/token_chain.h"
#include "text/tokenizer.h"

namespace llmtool {
namespace {

using Position = TokenChain::Position;

void check(std::string_view text, const BpeTrainOptions& options) {
  check_pretokenizer(options.pretokenizer);
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
  if (text.empty()) throw world_error("[bpe] the text to learn merges from is empty");
}

class Trainer {
 public:
  explicit Trainer(std::string_view text) : chain_(text), lengths_(256, 1) {
    for (int byte = 0; byte < 256; ++byte) {
      tokens_.emplace_back(1, static_cast<char>(static_cast<unsigned char>(byte)));
      names_.insert(tokens_.back());
    }
    for (Position p = 0; p + 1 < chain_.size(); ++p) add(p, p + 1);
    for (const auto& [key, pair] : pairs_) heap_.push({pair.count, key});
  }

  /// The best pair that may be merged, taken out of the heap; false if none occurs `min_count` times.
  bool take_best(std::int64_t min_count, std::uint64_t& key) {
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      const auto found = pairs_.find(best.key);
      if (found == pairs_.end()) continue;
      const std::int64_t count = found->second.count;
      // Counts only fall after a pair is pushed, so an entry that is still right is the maximum of all.
      if (count != best.count) {
        if (count >= min_count) heap_.push({count, best.key});
        continue;
      }
      if (count < min_count) return false;
      if (!may_merge(best.key)) {
        pairs_.erase(found);
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

    std::vector<Position> places = std::move(pairs_.at(key).places);
    std::sort(places.begin(), places.end());
    fresh_.clear();
    for (const Position p : places) {
      // A place is out of date where an earlier merge, perhaps of this very loop (`aaa`), took one of the
      // two.
      if (chain_.at(p) != left) continue;
      const Position q = chain_.next(p, lengths_);
      if (q == TokenChain::none || chain_.at(q) != right) continue;
      const Position before = chain_.previous(p, lengths_), after = chain_.next(q, lengths_);
      if (before != TokenChain::none) remove(before, p);
      if (after != TokenChain::none) remove(q, after);
      chain_.merge(p, q, id, lengths_);
      if (before != TokenChain::none) add(before, p);
      if (after != TokenChain::none) add(p, after);
    }
    pairs_.erase(key);
    // Only pairs with the new token can have grown, and each of them is new.
    for (const std::uint64_t k : fresh_) {
      const auto found = pairs_.find(k);
      if (found != pairs_.end()) heap_.push({found->second.count, k});
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

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

  std::string joined(std::uint64_t key) const {
    return tokens_[static_cast<std::size_t>(left_of(key))] + tokens_[static_cast<std::size_t>(right_of(key))];
  }
  bool may_merge(std::uint64_t key) const {
    const std::size_t size = std::size_t{lengths_[static_cast<std::size_t>(left_of(key))]} +
                             lengths_[static_cast<std::size_t>(right_of(key))];
    return size <= max_token_bytes && bytes_ + size <= max_vocab_bytes && !names_.contains(joined(key));
  }

  void add(Position p, Position q) {
    const std::uint64_t key = pair_key(chain_.at(p), chain_.at(q));
    if (!banned_.empty() && banned_.contains(key)) return;
    Pair& pair = pairs_[key];
    if (pair.places.empty()) fresh_.push_back(key);
    ++pair.count;
    pair.places.push_back(p);
  }
  void remove(Position p, Position q) {
    const auto found = pairs_.find(pair_key(chain_.at(p), chain_.at(q)));
    // At zero no place is valid any more, so nothing is lost with the pair; should it come back, it starts
    // anew.
    if (found != pairs_.end() && --found->second.count == 0) pairs_.erase(found);
  }

  TokenChain chain_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::string> tokens_;
  std::unordered_set<std::string> names_;
  std::size_t bytes_ = 256;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::unordered_set<std::uint64_t> banned_;  ///< Pairs passed over for good.
  std::vector<std::uint64_t> fresh_;          ///< Pairs first seen since it was last cleared.
  std::priority_queue<Candidate> heap_;
};

}  // namespace

BpeModel train_bpe(std::string_view text, const BpeTrainOptions& options) {
  check(text, options);
  BpeModel model;
  model.specials = options.specials;
  model.pretokenizer = options.pretokenizer;
  model.min_frequency = options.min_frequency;

  Trainer trainer(text);
  const std::int64_t target = options.vocab_size - static_cast<std::int64_t>(options.specials.size());
  std::uint64_t best = 0;
  while (trainer.size() < target && trainer.take_best(options.min_frequency, best)) {
    throw_if_interrupted();
    trainer.merge(best);
    model.merges.emplace_back(left_of(best), right_of(best));
  }
  return model;
}

}  // namespace llmtool
