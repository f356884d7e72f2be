// The character, ASCII and byte tokenizers.
#include "text/char_tokenizer.h"

#include "support/catch.h"
#include "text/byte_tokenizer.h"
#include "text/helpers.h"
#include "text/make_tokenizer.h"

using namespace llmtool;
using test::contains;
using test::error_of;
using Ids = std::vector<std::int32_t>;

TEST_CASE("char: code points in order of first appearance") {
  const CharTokenizer t(char_vocabulary_of("hello world hello"));
  CHECK(t.vocabulary().characters == std::vector<std::string>{"h", "e", "l", "o", " ", "w", "r", "d"});
  CHECK(t.type() == "char");
  CHECK(t.vocab_size() == 8);
  CHECK(t.encode("hello") == Ids{0, 1, 2, 2, 3});
  CHECK(t.decode(Ids{5, 3, 6, 2, 7}) == "world");
  CHECK(t.encode("").empty());
  CHECK_FALSE(t.eot_id().has_value());
}

TEST_CASE("char: beyond ASCII") {
  const CharTokenizer t(char_vocabulary_of("aß狐🦊a狐"));
  CHECK(t.vocab_size() == 4);
  CHECK(t.encode("🦊狐ßa") == Ids{3, 2, 1, 0});
  CHECK(t.token_bytes(3) == "🦊");
}

TEST_CASE("char: what it lacks is named with its position in characters") {
  const CharTokenizer t(char_vocabulary_of("aß"));
  const std::string lacks = error_of([&] { t.encode("ßaéa"); });
  CHECK(contains(lacks, "request: "));
  CHECK(contains(lacks, "'é' (U+00E9)"));
  CHECK(contains(lacks, "position 2"));
  CHECK(contains(error_of([&] { t.encode("a\n"); }), "U+000A"));
  CHECK(contains(error_of([&] { t.encode("🦊"); }), "U+1F98A"));
  CHECK(contains(error_of([&] { t.encode("ß\xff"); }), "position 1"));
}

TEST_CASE("char: training text that is not UTF-8 is an error with the offset") {
  const std::string e = error_of([] { char_vocabulary_of("ab\xc3\xa9\x80z"); });
  CHECK(contains(e, "world: "));
  CHECK(contains(e, "offset 4"));
  CHECK_THROWS_AS(char_vocabulary_of("cut off \xe7\x8b"), Error);
  CHECK_THROWS_AS(char_vocabulary_of(""), Error);
}

TEST_CASE("char: a vocabulary from elsewhere is checked") {
  CHECK(contains(error_of([] { CharTokenizer({{"a", "b", "a"}}); }), "twice"));
  CHECK(contains(error_of([] { CharTokenizer({{"狐", "狐"}}); }), "twice"));
  CHECK(contains(error_of([] { CharTokenizer({{"ab"}}); }), "entry 0"));
  CHECK(contains(error_of([] { CharTokenizer({{"a", ""}}); }), "entry 1"));
  CHECK(contains(error_of([] { CharTokenizer({{"\xff"}}); }), "entry 0"));
  CHECK(contains(error_of([] { CharTokenizer(CharVocabulary{}); }), "empty"));
}

TEST_CASE("ids out of range are errors with the id and the size") {
  const CharTokenizer chars(char_vocabulary_of("abc"));
  const std::string e = error_of([&] { chars.decode(Ids{0, 3}); });
  CHECK(contains(e, "request: "));
  CHECK(contains(e, "3"));
  CHECK(contains(e, "has 3 tokens"));
  CHECK(contains(error_of([&] { chars.token_bytes(-1); }), "-1"));
  CHECK(contains(error_of([] { AsciiTokenizer().decode(Ids{128}); }), "has 128 tokens"));
  CHECK(contains(error_of([] { ByteTokenizer().decode(Ids{256}); }), "has 256 tokens"));
}

TEST_CASE("ascii: each character its code, everything else dropped") {
  const AsciiTokenizer t;
  CHECK(t.vocab_size() == 128);
  CHECK(t.encode("A\n狐z\x7f") == Ids{65, 10, 122, 127});
  CHECK(t.decode(Ids{65, 0, 127}) == std::string("A\0\x7f", 3));
}

TEST_CASE("bytes: each byte its value") {
  const ByteTokenizer t;
  std::string all;
  for (int b = 255; b >= 0; --b) all += static_cast<char>(static_cast<unsigned char>(b));
  const Ids ids = t.encode(all);
  CHECK(ids.front() == 255);
  CHECK(ids.back() == 0);
  CHECK(t.decode(ids) == all);
}

TEST_CASE("fingerprints tell tokenizers apart and are stable") {
  const CharTokenizer ab(char_vocabulary_of("ab")), ba(char_vocabulary_of("ba")),
      ab2(char_vocabulary_of("abab"));
  CHECK(ab.fingerprint() == ab2.fingerprint());
  CHECK(ab.fingerprint() != ba.fingerprint());
  CHECK(AsciiTokenizer().fingerprint() != ByteTokenizer().fingerprint());
}

TEST_CASE("auto is char for the built-in corpus and bpe for other text") {
  ThreadPool pool(2);
  TokenizerConfig config;
  config.vocab_size = 260;
  CHECK(make_tokenizer(config, "hello world", true, pool)->type() == "char");
  CHECK(make_tokenizer(config, "hello world", false, pool)->type() == "bpe");
  config.type = "ascii";
  CHECK(make_tokenizer(config, "hello world", false, pool)->type() == "ascii");
  config.type = "bytes";
  CHECK(make_tokenizer(config, "hello world", true, pool)->type() == "bytes");
}
