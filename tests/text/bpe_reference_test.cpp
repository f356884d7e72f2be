// Training and encoding against their definitions: count everything anew before each merge; find the best
// merge of the whole text before each application.
#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "support/catch.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"

using namespace llmtool;
using Ids = std::vector<std::int32_t>;
using Pair = std::pair<std::int32_t, std::int32_t>;

namespace {

Ids bytes_of(const std::string& text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

Ids applied(const Ids& ids, Pair pair, std::int32_t made) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + 1 < ids.size() && Pair(ids[i], ids[i + 1]) == pair) {
      out.push_back(made);
      ++i;
    } else {
      out.push_back(ids[i]);
    }
  }
  return out;
}

std::vector<Pair> naive_merges(const std::string& text, std::size_t vocab_size, std::int64_t min_frequency) {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(static_cast<unsigned char>(b)));
  std::vector<Pair> merges;
  Ids ids = bytes_of(text);
  while (tokens.size() < vocab_size) {
    std::map<Pair, std::int64_t> counts;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) ++counts[{ids[i], ids[i + 1]}];
    Pair best;
    std::int64_t best_count = 0;
    for (const auto& [pair, count] : counts) {  // ascending pairs: the first of equals is the smallest
      const std::string joined =
          tokens[static_cast<std::size_t>(pair.first)] + tokens[static_cast<std::size_t>(pair.second)];
      const bool known = std::find(tokens.begin(), tokens.end(), joined) != tokens.end();
      if (count > best_count && !known) best = pair, best_count = count;
    }
    if (best_count < min_frequency || best_count == 0) break;
    ids = applied(ids, best, static_cast<std::int32_t>(tokens.size()));
    tokens.push_back(tokens[static_cast<std::size_t>(best.first)] +
                     tokens[static_cast<std::size_t>(best.second)]);
    merges.push_back(best);
  }
  return merges;
}

Ids naive_encode(const std::string& text, const std::vector<Pair>& merges) {
  Ids ids = bytes_of(text);
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    ids = applied(ids, merges[rank], static_cast<std::int32_t>(256 + rank));
  }
  return ids;
}

std::string random_text(std::uint64_t seed, std::uint64_t length, std::uint64_t letters) {
  const Stream random(seed, "reference text");
  std::string text;
  for (std::uint64_t i = 0; i < length; ++i) text += static_cast<char>('a' + random.below(letters, i));
  return text;
}

}  // namespace

TEST_CASE("bpe training equals counting everything anew, encoding equals applying merges in order") {
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::uint64_t letters = 1 + seed % 5;
    const std::uint64_t length = 1 + seed * 11;
    const std::string text = random_text(seed, length, letters);
    BpeTrainOptions options;
    options.vocab_size = 256 + static_cast<std::int64_t>(seed);
    options.min_frequency = 1 + static_cast<std::int64_t>(seed % 3);
    const BpeTokenizer bpe(train_bpe(text, options));
    INFO("seed " << seed);
    REQUIRE(bpe.model().merges ==
            naive_merges(text, static_cast<std::size_t>(options.vocab_size), options.min_frequency));
    REQUIRE(bpe.encode(text) == naive_encode(text, bpe.model().merges));
    const std::string other = random_text(seed + 1000, 300, letters + 1);
    REQUIRE(bpe.encode(other) == naive_encode(other, bpe.model().merges));
    sizes.insert(bpe.model().merges.size());
  }
  CHECK(sizes.size() > 20);  // the texts do reach many sizes
}
