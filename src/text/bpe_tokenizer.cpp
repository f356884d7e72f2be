// BpeTokenizer: pieces one by one, a short piece by looking for its best pair again after each merge, a long
// one with a chain of tokens and a heap of the merges that are possible in it.
#include "text/bpe_tokenizer.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "text/fingerprint.h"

namespace llmtool {
namespace {

/// Pieces up to here are merged without a heap, and remembered.
constexpr std::size_t short_piece = 48;

/// An order that is the plain one is written as none, so that equal models are equal.
BpeModel normalized(BpeModel model) {
  bool plain = model.byte_order.size() == 256;
  for (std::size_t i = 0; plain && i < 256; ++i) plain = static_cast<unsigned char>(model.byte_order[i]) == i;
  if (plain) model.byte_order.clear();
  return model;
}

/// A table to be copied as a block: filling one takes most of the time of a small vocabulary in instrumented
/// builds.
const std::vector<std::int32_t>& no_byte_pairs() {
  static const std::vector<std::int32_t> table(std::size_t{256} * 256, -1);
  return table;
}

}  // namespace

BpeTokenizer::BpeTokenizer(BpeModel model)
    : model_(normalized(std::move(model))),
      split_(split_by_name(model_.pretokenizer)),
      tokens_(bpe_token_bytes(model_)),
      byte_pairs_(no_byte_pairs()),
      joined_(std::size_t{256} * 256, false) {
  for (std::int32_t id = 0; id < 256; ++id)
    byte_ids_[static_cast<unsigned char>(tokens_[static_cast<std::size_t>(id)][0])] = id;
  lengths_.reserve(tokens_.size());
  for (const std::string& token : tokens_) lengths_.push_back(static_cast<std::uint32_t>(token.size()));
  std::int32_t id = 256;
  for (const auto& [left, right] : model_.merges) {
    if (left < 256 && right < 256) byte_pairs_[static_cast<std::size_t>(left << 8 | right)] = id;
    merged_.insert(pair_key(left, right), id++);
    // The bytes within both halves are those of earlier tokens; only where the halves meet there may be news.
    const auto a = static_cast<unsigned char>(tokens_[static_cast<std::size_t>(left)].back());
    const auto b = static_cast<unsigned char>(tokens_[static_cast<std::size_t>(right)].front());
    joined_[std::size_t{a} << 8 | b] = true;
  }
}

std::vector<std::int32_t> BpeTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> out;
  append_ids(text, out);
  return out;
}

std::size_t BpeTokenizer::last_cut(std::string_view text) const noexcept {
  if (split_ != Split::none) return last_border(text, split_);
  std::size_t at = text.empty() ? 0 : text.size() - 1;
  while (at > 0 && may_join(text[at - 1], text[at])) --at;
  return at;
}

void BpeTokenizer::append_ids(std::string_view text, std::vector<std::int32_t>& out) const {
  PieceCache cache(text.size());
  out.reserve(out.size() + text.size() / 4);
  if (split_ != Split::none) {
    for (PieceScanner scanner(text, split_); !scanner.done();) append_piece(scanner.next(), text, cache, out);
    return;
  }
  // The whole text is one piece, but no merge crosses two bytes that no token joins.
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && may_join(text[end - 1], text[end])) ++end;
    append_piece(text.substr(begin, end - begin), text, cache, out);
    begin = end;
  }
}

inline void BpeTokenizer::append_piece(std::string_view piece, std::string_view text, PieceCache& cache,
                                       std::vector<std::int32_t>& out) const {
  if (piece.size() == 1) {
    out.push_back(byte_ids_[static_cast<unsigned char>(piece[0])]);
    return;
  }
  const std::size_t at = out.size();
  if (piece.size() <= PieceCache::short_bytes) {
    const auto left = static_cast<std::size_t>(text.data() + text.size() - piece.data());
    const PieceCache::Key key = PieceCache::key_of(piece, left);
    PieceCache::ShortSlot& slot = cache.short_slot(key);
    if (PieceCache::holds(slot, key, piece.size())) {
      out.insert(out.end(), slot.ids, slot.ids + slot.count);
      return;
    }
    merge_short(piece, out);
    const std::size_t count = out.size() - at;
    if (count > PieceCache::short_ids) return;
    slot = {
        {key.low, key.high}, static_cast<std::uint8_t>(piece.size()), static_cast<std::uint8_t>(count), {}};
    std::copy(out.begin() + static_cast<std::ptrdiff_t>(at), out.end(), slot.ids);
    return;
  }
  if (piece.size() > short_piece) return merge_long(piece, out);
  PieceCache::LongSlot& slot = cache.long_slot(piece);
  if (slot.piece == piece) {
    const std::size_t from = slot.at;
    for (std::uint32_t i = 0; i < slot.count; ++i) out.push_back(std::int32_t{out[from + i]});
  } else {
    merge_short(piece, out);
    slot = {piece, static_cast<std::uint32_t>(out.size() - at), at};
  }
}

void BpeTokenizer::merge_short(std::string_view piece, std::vector<std::int32_t>& out) const {
  constexpr std::uint32_t never = ~std::uint32_t{0};
  std::int32_t ids[short_piece];
  std::uint32_t merged[short_piece];  // What ids[i] and ids[i + 1] merge to.
  std::size_t n = piece.size();
  for (std::size_t i = 0; i < n; ++i) ids[i] = byte_ids_[static_cast<unsigned char>(piece[i])];
  for (std::size_t i = 0; i + 1 < n; ++i)
    merged[i] = static_cast<std::uint32_t>(byte_pairs_[static_cast<std::size_t>(ids[i] << 8 | ids[i + 1])]);
  while (n > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      if (merged[i] < merged[best]) best = i;
    }
    if (merged[best] == never) break;
    ids[best] = static_cast<std::int32_t>(merged[best]);
    --n;
    for (std::size_t i = best + 1; i < n; ++i) {
      ids[i] = ids[i + 1];
      merged[i - 1] = merged[i];
    }
    const auto pair = [&](std::size_t i) {
      return static_cast<std::uint32_t>(merged_.find(pair_key(ids[i], ids[i + 1])));
    };
    if (best + 1 < n) merged[best] = pair(best);
    if (best > 0) merged[best - 1] = pair(best - 1);
  }
  out.insert(out.end(), ids, ids + n);
}

void BpeTokenizer::merge_long(std::string_view piece, std::vector<std::int32_t>& out) const {
  TokenChain chain(piece, byte_ids_);
  using Position = TokenChain::Position;

  // A possible merge: the merged id above, the left position below, so that the smallest number is the next
  // merge. Entries are not removed when a neighbour merges first; they are recognised when they come up.
  std::vector<std::uint64_t> possible;
  for (Position p = 0; p + 1 < chain.size(); ++p) {
    const std::int32_t id = byte_pairs_[static_cast<std::size_t>(chain.at(p) << 8 | chain.at(p + 1))];
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
  chain.append_ids(lengths_, out);
}

std::vector<std::int32_t> BpeTokenizer::encode_with_specials(std::string_view text) const {
  std::vector<std::int32_t> out;
  // Where each special stands next; looked for again only once it lies behind, so that the cost is linear.
  std::vector<std::size_t> next;
  for (const std::string& special : model_.specials) next.push_back(text.find(special));
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t at = std::string_view::npos, found = 0;
    for (std::size_t i = 0; i < model_.specials.size(); ++i) {
      const std::string& special = model_.specials[i];
      if (next[i] < begin) next[i] = text.find(special, begin);
      const std::size_t place = next[i];
      if (place < at ||
          (place == at && place != std::string_view::npos && special.size() > model_.specials[found].size()))
        at = place, found = i;
    }
    append_ids(text.substr(begin, at == std::string_view::npos ? at : at - begin), out);
    if (at == std::string_view::npos) break;
    out.push_back(static_cast<std::int32_t>(256 + model_.merges.size() + found));
    begin = at + model_.specials[found].size();
  }
  return out;
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
  if (!model_.byte_order.empty()) f.add(model_.byte_order);
  f.add(std::uint64_t{model_.merges.size()});
  for (const auto& [left, right] : model_.merges) f.add(pair_key(left, right));
  for (const std::string& special : model_.specials) f.add(special);
  return f.value();
}

}  // namespace llmtool
