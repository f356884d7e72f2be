// Byte-level BPE: worked values, round trips, hostile models, and the cost of bad cases.
#include <chrono>

#include "base/rng.h"
#include "support/catch.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/helpers.h"

using namespace llmtool;
using test::contains;
using test::error_of;
using Ids = std::vector<std::int32_t>;
using Merge = std::pair<std::int32_t, std::int32_t>;

namespace {

BpeTokenizer trained(std::string_view text, std::int64_t vocab_size, std::int64_t min_frequency = 1) {
  BpeTrainOptions options;
  options.vocab_size = vocab_size;
  options.min_frequency = min_frequency;
  return BpeTokenizer(train_bpe(text, options));
}

BpeTokenizer with_merges(std::vector<Merge> merges, std::vector<std::string> specials = {}) {
  BpeModel model;
  model.merges = std::move(merges);
  model.specials = std::move(specials);
  return BpeTokenizer(std::move(model));
}

constexpr std::string_view low_text = "low low low low low lowest lowest newest newest newest";

}  // namespace

TEST_CASE("bpe: low, lowest, newest") {
  const BpeTokenizer t = trained(low_text, 258);
  CHECK(t.model().merges == std::vector<Merge>{{'l', 'o'}, {256, 'w'}});
  CHECK(t.encode("low") == Ids{257});
  for (std::int64_t size = 258; size <= 280; ++size) {
    CHECK(trained(low_text, size).encode("low").size() == 1);
  }
}

TEST_CASE("bpe: Chinese text merges whole characters") {
  const BpeTokenizer t = trained("狐狸狐狸狐狸花园花园狐狸", 256 + 8);
  CHECK(t.encode("狐狸").size() == 1);
  CHECK(t.decode(t.encode("花园里的狐狸")) == "花园里的狐狸");
}

TEST_CASE("bpe: ties go to the smaller left id, then the smaller right id") {
  CHECK(trained("cd ab", 257).model().merges == std::vector<Merge>{{' ', 'a'}});
  CHECK(trained("bcXbaYbcZba", 257).model().merges == std::vector<Merge>{{'b', 'a'}});
}

TEST_CASE("bpe: overlapping pairs count at every place and merge left to right") {
  // (a,a) counts 2 in `aaa` and so reaches a minimum of 2; one merge leaves (aa)(a).
  const BpeTokenizer t = trained("aaa", 300, 2);
  CHECK(t.model().merges == std::vector<Merge>{{'a', 'a'}});
  CHECK(t.encode("aaa") == Ids{256, 'a'});
  CHECK(t.encode("aaaa") == Ids{256, 256});
}

TEST_CASE("bpe: training ends where no pair is frequent enough") {
  CHECK(trained("abcd", 1024).model().merges == std::vector<Merge>{{'a', 'b'}, {'c', 'd'}, {256, 257}});
  CHECK(trained("abcd", 1024, 2).model().merges.empty());
  CHECK(trained("x", 1024).vocab_size() == 256);
  CHECK(trained(low_text, 256).vocab_size() == 256);
}

TEST_CASE("bpe: training refuses what it cannot do") {
  BpeTrainOptions options;
  options.vocab_size = 255;
  CHECK(contains(error_of([&] { train_bpe("ab", options); }), "request: [bpe] vocab_size 255"));
  options.vocab_size = 256;
  options.specials = {std::string(end_of_text)};
  CHECK(contains(error_of([&] { train_bpe("ab", options); }), "257"));
  options.vocab_size = 300;
  options.min_frequency = 0;
  CHECK(contains(error_of([&] { train_bpe("ab", options); }), "min_frequency"));
  options.min_frequency = 1;
  options.pretokenizer = "gpt5";
  CHECK(contains(error_of([&] { train_bpe("ab", options); }), "request: [bpe] pretokenizer 'gpt5'"));
  options.pretokenizer = "none";
  CHECK(contains(error_of([&] { train_bpe("", options); }), "world: "));
}

TEST_CASE("bpe: special tokens follow the merges and never come from text") {
  BpeTrainOptions options;
  options.vocab_size = 260;
  options.specials = {std::string(end_of_text), "<pad>"};
  const BpeTokenizer t(train_bpe(low_text, options));
  CHECK(t.vocab_size() == 260);
  CHECK(t.model().merges.size() == 2);
  CHECK(t.eot_id() == 258);
  CHECK(t.special_id("<pad>") == 259);
  CHECK_FALSE(t.special_id("<unk>").has_value());
  CHECK(t.token_bytes(258) == end_of_text);
  for (const std::int32_t id : t.encode("low<|endoftext|><pad>")) CHECK(id < 258);
  CHECK(t.encode_with_specials("<pad>low<|endoftext|><pad><pa") == Ids{259, 257, 258, 259, '<', 'p', 'a'});
  CHECK(t.encode_with_specials("").empty());
  CHECK(with_merges({}, {"<a", "<a>", "a>"}).encode_with_specials("<a><aa>") == Ids{257, 256, 258});
  CHECK_FALSE(trained(low_text, 258).eot_id().has_value());
}

TEST_CASE("bpe: any bytes round-trip") {
  const BpeTokenizer t =
      trained("the quick brown fox jumps over the lazy dog, the fox, the dog \xf0\x9f\xa6\x8a", 330);
  CHECK(t.encode("").empty());
  CHECK(t.decode(Ids{}).empty());
  const std::string nul("a\0b\0\0", 5);
  CHECK(t.decode(t.encode(nul)) == nul);
  const Stream random(7, "round trip");
  for (std::uint64_t round = 0; round < 200; ++round) {
    std::string bytes;
    for (std::uint64_t i = 0; i < round; ++i) {
      // Half of the rounds draw from few bytes, so that merges apply.
      const std::uint64_t b = round % 2 == 0
                                  ? random.below(256, 1000 * round + i)
                                  : static_cast<unsigned char>("the fox"[random.below(7, 1000 * round + i)]);
      bytes += static_cast<char>(static_cast<unsigned char>(b));
    }
    REQUIRE(t.decode(t.encode(bytes)) == bytes);
  }
}

TEST_CASE("bpe: ids out of range") {
  const BpeTokenizer t = trained(low_text, 258);
  CHECK(contains(error_of([&] { t.decode(Ids{258}); }),
                 "token id 258 is out of range: the vocabulary has 258"));
  CHECK_THROWS_AS(t.token_bytes(-5), Error);
}

TEST_CASE("bpe: hostile models are refused") {
  CHECK(contains(error_of([] { with_merges({{'a', 256}}); }), "merge 0"));
  CHECK(contains(error_of([] { with_merges({{'a', 'b'}, {-1, 256}}); }), "merge 1"));
  CHECK(contains(error_of([] { with_merges({{'a', 'b'}, {'a', 'b'}}); }), "token already"));
  CHECK(contains(error_of([] { with_merges({{'a', 'b'}, {'b', 'c'}, {256, 'c'}, {'a', 257}}); }), "merge 3"));
  std::vector<Merge> doubling = {{'a', 'a'}};
  for (std::int32_t i = 0; i < 60; ++i) doubling.emplace_back(256 + i, 256 + i);
  CHECK(contains(error_of([&] { with_merges(doubling); }), "at most"));
  CHECK(contains(error_of([] { with_merges({}, {""}); }), "empty"));
  CHECK(contains(error_of([] { with_merges({}, {"<a>", "<a>"}); }), "twice"));
  CHECK(contains(error_of([] { with_merges({{'a', 'b'}}, {"ab"}); }), "twice"));
  BpeModel model;
  model.byte_order = std::string(256, 'a');
  CHECK(contains(error_of([&] { BpeTokenizer{model}; }), "world: [bpe] the order of bytes"));
  model.byte_order = "abc";
  CHECK(contains(error_of([&] { BpeTokenizer{model}; }), "world: [bpe] the order of bytes"));
  model.byte_order.clear();
  model.pretokenizer = "words";
  CHECK(contains(error_of([&] { BpeTokenizer{model}; }), "request: "));
}

TEST_CASE("bpe: fingerprints") {
  CHECK(trained(low_text, 258).fingerprint() == with_merges({{'l', 'o'}, {256, 'w'}}).fingerprint());
  CHECK(trained(low_text, 258).fingerprint() != trained(low_text, 259).fingerprint());
  CHECK(with_merges({}, {"<a>"}).fingerprint() != with_merges({}, {"<b>"}).fingerprint());
}

TEST_CASE("bpe: long runs are encoded and learned without quadratic cost") {
  // 100,000 equal bytes are the worst case of a left-to-right scan per merge; here they take milliseconds.
  // The bound is wide enough for an instrumented build.
  const std::string run(100000, 'a');
  const auto begin = std::chrono::steady_clock::now();
  const BpeTokenizer t = trained(run, 300);
  const Ids ids = t.encode(run);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(t.decode(ids) == run);
  CHECK(ids.size() < 10);
  for (std::int32_t id = 256; id < t.vocab_size(); ++id) CHECK(t.token_bytes(id).size() <= max_token_bytes);
  CHECK(std::chrono::duration<double>(took).count() < 5.0);
}
