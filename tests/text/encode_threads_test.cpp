// Cutting text changes no id: borders of pieces against the whole, several threads and small blocks against
// one encode().
#include "text/encode_threads.h"

#include <fstream>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"
#include "text/helpers.h"

using namespace llmtool;

namespace {

/// Words, digits, punctuation, white space of every kind, letters of several scripts, marks, and broken
/// bytes.
std::string mixed_text(std::uint64_t seed, std::size_t atoms) {
  static const std::vector<std::string> kinds = {"a",
                                                 "the",
                                                 "'s",
                                                 "'LL",
                                                 "'",
                                                 "1",
                                                 "2024",
                                                 " ",
                                                 "  ",
                                                 "\n",
                                                 "\r\n",
                                                 "\t",
                                                 "\n\n",
                                                 "!",
                                                 ".",
                                                 "^^",
                                                 "\xC2\xA0",
                                                 "狐狸",
                                                 "ครับ",
                                                 "हिन्दी",
                                                 "e\xCC\x81",
                                                 "\xE3\x80\x80",
                                                 "٣",
                                                 "\xFF",
                                                 "\xE4",
                                                 "\xBD",
                                                 "\xC5\xBF",
                                                 "'\xC5\xBF",
                                                 "\xF0\x9F\x91\xA9\xE2\x80\x8D",
                                                 "\xE2\x80",
                                                 "x",
                                                 "\x85",
                                                 "Ⅷ"};
  const Stream random(seed, "mixed");
  std::string text;
  for (std::size_t i = 0; i < atoms; ++i) text += kinds[random.below(kinds.size(), i)];
  return text;
}

std::vector<std::string> split(std::string_view text, Split kind) {
  std::vector<std::string> pieces;
  for (PieceScanner scanner(text, kind); !scanner.done();) pieces.emplace_back(scanner.next());
  return pieces;
}

BpeTokenizer trained(const std::string& pretokenizer, const std::string& text) {
  BpeTrainOptions options;
  options.vocab_size = 330;
  options.pretokenizer = pretokenizer;
  return BpeTokenizer(train_bpe(text, options));
}

}  // namespace

TEST_CASE("both sides of a border split as the whole does, whatever follows") {
  for (const Split kind : {Split::gpt2, Split::gpt4, Split::gpt4_2023}) {
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      const std::string text = mixed_text(seed, 14);
      const std::string_view seen = std::string_view(text).substr(0, text.size() * (seed % 5 + 1) / 5);
      const std::size_t cut = last_border(seen, kind);
      if (cut == 0) continue;
      ++found;
      REQUIRE(cut < seen.size());
      std::vector<std::string> joined = split(std::string_view(text).substr(0, cut), kind);
      for (std::string& piece : split(std::string_view(text).substr(cut), kind))
        joined.push_back(std::move(piece));
      if (joined != split(text, kind)) FAIL("seed " << seed << " cut " << cut);
    }
    CHECK(found > 2000);
  }
  CHECK(last_border("two words", Split::gpt2) == 3);
  CHECK(last_border("two  words", Split::gpt4) == 3);
  CHECK(last_border("don't", Split::gpt2) == 3);
  CHECK(last_border("abc", Split::gpt4) == 0);
  CHECK(last_border("!!!\n", Split::gpt4) == 0);
  CHECK(last_border("", Split::gpt4) == 0);
  CHECK(last_border("a b", Split::none) == 0);
}

TEST_CASE("encoding block by block and on threads gives the ids of the whole", "[threads]") {
  const TempDir dir;
  std::string text = mixed_text(1, 60000);
  text.append(300000, 'a').append(mixed_text(2, 200000));
  text.append(100000, ' ').append(mixed_text(3, 500000)).append(3, ' ');
  const std::string file = (dir.path() / "t.txt").string();
  std::ofstream(file, std::ios::binary) << text;
  REQUIRE(text.size() > 2500000);
  for (const char* pretokenizer : {"none", "gpt2", "gpt4", "gpt4_2023"}) {
    INFO(pretokenizer);
    const BpeTokenizer tokenizer = trained(pretokenizer, text.substr(0, 100000));
    const auto whole = tokenizer.encode(text);
    for (const int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      CHECK((encode_on(pool, tokenizer, text) == whole));
      TextSource source({file});
      EncodeStream stream(source, tokenizer, pool);
      std::vector<std::int32_t> joined, ids;
      while (stream.next(ids)) joined.insert(joined.end(), ids.begin(), ids.end());
      CHECK((joined == whole));
    }
  }
  ThreadPool pool(2);
  CHECK((encode_on(pool, ByteTokenizer(), text) == ByteTokenizer().encode(text)));
  CHECK((encode_on(pool, AsciiTokenizer(), text) == AsciiTokenizer().encode(text)));
}

TEST_CASE("without splitting, pieces end where no token joins two bytes") {
  // The naive definition over the whole text: the earliest merge that is possible anywhere, leftmost first.
  const std::string text = mixed_text(5, 300);
  const BpeTokenizer tokenizer = trained("none", mixed_text(6, 3000));
  std::vector<std::int32_t> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  for (std::size_t m = 0; m < tokenizer.model().merges.size(); ++m) {
    std::vector<std::int32_t> next;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i + 1 < ids.size() && std::pair(ids[i], ids[i + 1]) == tokenizer.model().merges[m]) {
        next.push_back(static_cast<std::int32_t>(256 + m));
        ++i;
      } else {
        next.push_back(ids[i]);
      }
    }
    ids = std::move(next);
  }
  CHECK(tokenizer.encode(text) == ids);
  const std::size_t cut = tokenizer.last_cut(text);
  REQUIRE(cut > 0);
  auto joined = tokenizer.encode(text.substr(0, cut));
  for (const std::int32_t id : tokenizer.encode(text.substr(cut))) joined.push_back(id);
  CHECK(joined == ids);
}

TEST_CASE("a character that the vocabulary lacks is an error on the way, too") {
  const TempDir dir;
  const std::string file = (dir.path() / "t.txt").string();
  std::ofstream(file, std::ios::binary) << std::string(5000000, 'a') << 'b';
  const CharTokenizer tokenizer(char_vocabulary_of("a"));
  ThreadPool pool(1);
  TextSource source({file});
  EncodeStream stream(source, tokenizer, pool);
  const std::string e = test::error_of([&] {
    for (std::vector<std::int32_t> ids; stream.next(ids);) continue;
  });
  CHECK(test::contains(e, "request: [char] character 'b'"));
  CHECK(test::contains(e, "of the input on"));
}
