// Training and encoding against their definitions: count everything anew before each merge; find the best
// merge of the whole text before each application.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/rng.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/piece_counts.h"
#include "text/pretokenizer.h"

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

std::vector<std::string> split(const std::string& text, const std::string& pretokenizer) {
  std::vector<std::string> pieces;
  for (PieceScanner scanner(text, split_by_name(pretokenizer)); !scanner.done();)
    pieces.emplace_back(scanner.next());
  return pieces;
}

std::vector<Pair> naive_merges(const std::vector<std::string>& pieces, std::size_t vocab_size,
                               std::int64_t min_frequency) {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(static_cast<unsigned char>(b)));
  std::vector<Pair> merges;
  std::vector<Ids> words;
  for (const std::string& piece : pieces) words.push_back(bytes_of(piece));
  while (tokens.size() < vocab_size) {
    std::map<Pair, std::int64_t> counts;
    for (const Ids& ids : words)
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
    for (Ids& ids : words) ids = applied(ids, best, static_cast<std::int32_t>(tokens.size()));
    tokens.push_back(tokens[static_cast<std::size_t>(best.first)] +
                     tokens[static_cast<std::size_t>(best.second)]);
    merges.push_back(best);
  }
  return merges;
}

Ids naive_encode(const std::vector<std::string>& pieces, const std::vector<Pair>& merges) {
  Ids out;
  for (const std::string& piece : pieces) {
    Ids ids = bytes_of(piece);
    for (std::size_t rank = 0; rank < merges.size(); ++rank)
      ids = applied(ids, merges[rank], static_cast<std::int32_t>(256 + rank));
    out.insert(out.end(), ids.begin(), ids.end());
  }
  return out;
}

std::string random_text(std::uint64_t seed, std::uint64_t length, std::uint64_t letters) {
  const Stream random(seed, "reference text");
  std::string text;
  // The later letters are signs that splitting cares about.
  constexpr std::string_view alphabet = "ab c'\n1";
  for (std::uint64_t i = 0; i < length; ++i) text += alphabet[random.below(letters, i)];
  return text;
}

}  // namespace

TEST_CASE("bpe training equals counting everything anew, encoding equals applying merges in order") {
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    const std::uint64_t letters = 1 + seed % 6;
    const std::uint64_t length = 1 + seed * 11;
    const std::string text = random_text(seed, length, letters);
    BpeTrainOptions options;
    options.vocab_size = 256 + static_cast<std::int64_t>(seed);
    options.min_frequency = 1 + static_cast<std::int64_t>(seed % 3);
    options.pretokenizer = seed < 40 ? "none" : seed % 2 == 0 ? "gpt2" : "gpt4";
    const BpeTokenizer bpe(train_bpe(text, options));
    INFO("seed " << seed);
    REQUIRE(bpe.model().merges == naive_merges(split(text, options.pretokenizer),
                                               static_cast<std::size_t>(options.vocab_size),
                                               options.min_frequency));
    REQUIRE(bpe.encode(text) == naive_encode(split(text, options.pretokenizer), bpe.model().merges));
    const std::string other = random_text(seed + 1000, 300, letters + 1);
    REQUIRE(bpe.encode(other) == naive_encode(split(other, options.pretokenizer), bpe.model().merges));
    sizes.insert(bpe.model().merges.size());
  }
  CHECK(sizes.size() > 20);  // the texts do reach many sizes
}

TEST_CASE("distinct pieces are counted, the most frequent first, then in order") {
  CHECK(count_pieces("a b a b c a", Split::gpt2) ==
        std::vector<CountedPiece>{{" b", 2}, {" a", 2}, {"a", 1}, {" c", 1}});
  CHECK(count_pieces("a b", Split::none) == std::vector<CountedPiece>{{"a b", 1}});
  CHECK(count_pieces("", Split::gpt4).empty());
  const std::string text = random_text(3, 400000, 6);
  std::map<std::string_view, std::int64_t> expected;
  for (PieceScanner scanner(text, Split::gpt4); !scanner.done();) ++expected[scanner.next()];
  const std::vector<CountedPiece> pieces = count_pieces(text, Split::gpt4);
  CHECK(pieces.size() == expected.size());
  CHECK(pieces.size() > 2048);  // the table grew
  for (const CountedPiece& piece : pieces) REQUIRE(expected.at(piece.text) == piece.count);
}

TEST_CASE("bpe with a byte order of its own gives the same tokens under other ids") {
  const std::string text = random_text(11, 3000, 6);
  BpeTrainOptions options;
  options.vocab_size = 400;
  options.pretokenizer = "gpt2";
  const BpeTokenizer plain(train_bpe(text, options));
  BpeModel turned = plain.model();
  for (int i = 255; i >= 0; --i) turned.byte_order += static_cast<char>(static_cast<unsigned char>(i));
  const auto id = [](std::int32_t i) { return i < 256 ? 255 - i : i; };
  for (auto& [left, right] : turned.merges) left = id(left), right = id(right);
  const BpeTokenizer other(turned);
  Ids expected = plain.encode(text);
  for (std::int32_t& i : expected) i = id(i);
  CHECK(other.encode(text) == expected);
  CHECK(other.decode(expected) == text);
  CHECK(other.fingerprint() != plain.fingerprint());
}

TEST_CASE("pair map: erasing leaves the other keys findable") {
  PairMap map;
  std::map<std::uint64_t, std::int32_t> expected;
  const Stream random(9, "pair map");
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t key = random.below(300, 2 * i);
    if (random.below(2, 2 * i + 1) == 0) {
      map.erase(key);
      expected.erase(key);
    } else {
      const bool added = map.insert(key, static_cast<std::int32_t>(i));
      REQUIRE(added == expected.emplace(key, static_cast<std::int32_t>(i)).second);
    }
  }
  for (std::uint64_t key = 0; key < 300; ++key) {
    const auto at = expected.find(key);
    REQUIRE(map.find(key) == (at == expected.end() ? -1 : at->second));
  }
}

TEST_CASE("training from a file on any number of threads gives the model of the text", "[threads]") {
  const TempDir dir;
  std::string text;
  const Stream random(3, "pieces");
  const std::vector<std::string> words = {"low", "lower", " newest", " wide", "狐狸", "\n",
                                          "  ",  "12345", "'s",      "!!",    "\xFF"};
  for (std::uint64_t i = 0; text.size() < 3000000; ++i) {
    text += words[random.below(words.size(), i)];
    if (i % 5 == 0) text += static_cast<char>('a' + random.below(26, i, 1));
  }
  text.append(700000, 'x').append(1, ' ').append(700000, '^');  // longer than a part: no border inside
  const std::string a = (dir.path() / "a").string(), b = (dir.path() / "b").string();
  std::ofstream(a, std::ios::binary) << text.substr(0, 1234567);
  std::ofstream(b, std::ios::binary) << text.substr(1234567);
  BpeTrainOptions options;
  options.vocab_size = 400;
  for (const char* pretokenizer : {"gpt2", "gpt4"}) {
    options.pretokenizer = pretokenizer;
    const BpeModel whole = train_bpe(text, options);
    for (const int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      TextSource source({a, b});
      const BpeTraining training = train_bpe(source, options, pool);
      CHECK(training.model.merges == whole.merges);
      CHECK(training.bytes == text.size());
      CHECK(training.tokens == BpeTokenizer(whole).encode(text).size());
      CHECK(train_bpe(text, options, pool).merges == whole.merges);
      CHECK((count_pieces(text, split_by_name(pretokenizer), pool) ==
             count_pieces(text, split_by_name(pretokenizer))));
      TextSource again({a, b});
      CHECK((count_source(again, split_by_name(pretokenizer), pool, {}).sorted() ==
             count_pieces(text, split_by_name(pretokenizer))));
    }
  }
  options.pretokenizer = "none";
  options.vocab_size = 270;
  ThreadPool pool(2);
  TextSource source({a, b});
  CHECK(train_bpe(source, options, pool).model.merges == train_bpe(text, options).merges);
}
