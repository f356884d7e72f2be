// BpeTokenizer: a chain of tokens and a heap of the merges that are possible in it.
#include "text/bpe_tokenizer.h"

#include <functional>
#include <queue>

#include "text/fingerprint.h"
#include "text/token_chain.h"

namespace llmtool {

BpeTokenizer::BpeTokenizer(BpeModel model) : model_(std::move(model)), tokens_(bpe_token_bytes(model_)) {
  lengths_.reserve(tokens_.size());
  for (const std::string& token : tokens_) lengths_.push_back(static_cast<std::uint32_t>(token.size()));
  std::int32_t id = 256;
  for (const auto& [left, right] : model_.merges) merged_.insert(pair_key(left, right), id++);
}

std::vector<std::int32_t> BpeTokenizer::encode(std::string_view text) const {
  TokenChain chain(text);
  using Position = TokenChain::Position;

  // A possible merge: the merged id above, the left position below, so that the smallest number is the next
  // merge. Entries are not removed when a neighbour merges first; they are recognised when they come up.
  std::vector<std::uint64_t> possible;
  for (Position p = 0; p + 1 < chain.size(); ++p) {
    const std::int32_t id = merged_.find(pair_key(chain.at(p), chain.at(p + 1)));
    if (id >= 0) possible.push_back(std::uint64_t{static_cast<std::uint32_t>(id)} << 32 | p);
  }
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> queue(std::greater<>{},
                                                                                       std::move(possible));
  const auto consider = [&](Position left, Position right) {
    const std::int32_t id = merged_.find(pair_key(chain.at(left), chain.at(right)));
    if (id >= 0) queue.push(std::uint64_t{static_cast<std::uint32_t>(id)} << 32 | left);
  };
  while (!queue.empty()) {
    const std::uint64_t entry = queue.top();
    queue.pop();
    const auto id = static_cast<std::int32_t>(entry >> 32);
    const auto p = static_cast<Position>(entry & 0xFFFFFFFFu);
    const auto [left, right] = model_.merges[static_cast<std::size_t>(id - 256)];
    if (chain.at(p) != left) continue;
    const Position q = chain.next(p, lengths_);
    if (q == TokenChain::none || chain.at(q) != right) continue;
    chain.merge(p, q, id, lengths_);
    const Position before = chain.previous(p, lengths_);
    const Position after = chain.next(p, lengths_);
    if (before != TokenChain::none) consider(before, p);
    if (after != TokenChain::none) consider(p, after);
  }
  return chain.ids(lengths_);
}

void BpeTokenizer::append_token(std::int32_t id, std::string& out) const {
  out += tokens_[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> BpeTokenizer::special_id(std::string_view special) const noexcept {
  for (std::size_t i = 0; i < model_.specials.size(); ++i) {
    if (model_.specials[i] == special) return static_cast<std::int32_t>(256 + model_.merges.size() + i);
  }
  return std::nullopt;
}

std::uint64_t BpeTokenizer::fingerprint() const {
  Fingerprint f;
  f.add(type());
  f.add(model_.pretokenizer);
  f.add(std::uint64_t{model_.merges.size()});
  for (const auto& [left, right] : model_.merges) f.add(pair_key(left, right));
  for (const std::string& special : model_.specials) f.add(special);
  return f.value();
}

}  // namespace llmtool
