// The built-in corpus: its size, its characters, and what BPE with 400 tokens makes of it.
#include "text/builtin_corpus.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "support/catch.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/char_tokenizer.h"

using namespace llmtool;

TEST_CASE("the built-in corpus is data/fox.txt, 669 ASCII characters, 35 distinct") {
  const std::string_view text = builtin_corpus();
  REQUIRE(text == read_file(Path(LLMTOOL_SOURCE_DIR) / "data" / "fox.txt"));
  CHECK(text.size() == 669);
  CHECK(std::set<char>(text.begin(), text.end()).size() == 35);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }));
  CHECK(text.substr(0, 16) == "Once upon a time");
  CHECK(text.find("The fox") != std::string_view::npos);
  CHECK(text.find("Red") != std::string_view::npos);
  CHECK(char_vocabulary_of(text).characters.size() == 35);
}

TEST_CASE("400 tokens on the built-in corpus: 144 merges, `the garden` in two tokens") {
  BpeTrainOptions options;
  options.vocab_size = 400;
  const BpeTokenizer bpe(train_bpe(builtin_corpus(), options));
  CHECK(bpe.model().merges.size() == 144);
  CHECK(bpe.vocab_size() == 400);
  const auto ids = bpe.encode("the garden");
  REQUIRE(ids.size() == 2);
  CHECK(bpe.token_bytes(ids[0]) == "the ");
  CHECK(bpe.token_bytes(ids[1]) == "garden");
  CHECK(bpe.decode(bpe.encode(builtin_corpus())) == builtin_corpus());
}
