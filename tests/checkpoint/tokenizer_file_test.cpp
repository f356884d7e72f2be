// tokenizer.json: every type and every token survives, the layout, and what is refused.
#include "checkpoint/tokenizer_file.h"

#include "base/error.h"
#include "checkpoint/byte_alphabet.h"
#include "formats/json.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"

using namespace llmtool;

namespace {

void check_round_trip(const Tokenizer& tokenizer) {
  const std::string text = tokenizer_json(tokenizer);
  const auto back = parse_tokenizer_json(text, "t.json");
  CHECK(back->type() == tokenizer.type());
  CHECK(back->fingerprint() == tokenizer.fingerprint());
  CHECK(back->eot_id() == tokenizer.eot_id());
  REQUIRE(back->vocab_size() == tokenizer.vocab_size());
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    CHECK(back->token_bytes(id) == tokenizer.token_bytes(id));
  CHECK(tokenizer_json(*back) == text);
}

BpeTokenizer small_bpe() {
  BpeTrainOptions options;
  options.vocab_size = 270;
  BpeModel model = train_bpe(
      "low low  lower\n\n\nlower \xFF\xFE\xFF\xFE \xE4\xBD\xA0\xE5\xA5\xBD\xE4\xBD\xA0\xE5\xA5\xBD\t\t",
      options);
  model.specials = {"<|endoftext|>", "with space\n"};
  return BpeTokenizer(std::move(model));
}

std::string refused(const std::string& text) {
  try {
    parse_tokenizer_json(text, "dir/t.json");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::world);
    CHECK(std::string(e.what()).rfind("dir/t.json", 0) == 0);
    return e.what();
  }
  FAIL("accepted");
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the byte alphabet is that of GPT-2") {
  CHECK(to_byte_alphabet(" a\n") ==
        "\xC4\xA0"
        "a\xC4\x8A");  // U+0120, a, U+010A
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(from_byte_alphabet(to_byte_alphabet(all)) == all);
  CHECK_FALSE(from_byte_alphabet(" "));
  CHECK_FALSE(from_byte_alphabet("\xFF"));
}

TEST_CASE("every type survives, byte for byte") {
  check_round_trip(small_bpe());
  for (const char* pretokenizer : {"gpt2", "gpt4", "gpt4_2023"}) {
    BpeTrainOptions options;
    options.vocab_size = 264;
    options.pretokenizer = pretokenizer;
    BpeModel model = train_bpe("don't 'LOW' low  12345\n\n lower", options);
    check_round_trip(BpeTokenizer(model));
    for (int i = 255; i >= 0; --i) model.byte_order += static_cast<char>(static_cast<unsigned char>(i));
    check_round_trip(BpeTokenizer(model));
  }
  check_round_trip(BpeTokenizer(BpeModel{}));
  check_round_trip(ByteTokenizer());
  check_round_trip(AsciiTokenizer());
  check_round_trip(CharTokenizer(
      char_vocabulary_of("hello \n\t\"\\/\x01\x7F w\xC3\xB6rld \xE4\xBD\xA0 \xF0\x9F\xA6\x8A")));
  std::string ascii;
  for (int i = 0; i < 128; ++i) ascii += static_cast<char>(i);
  check_round_trip(CharTokenizer(char_vocabulary_of(ascii)));  // told from the ascii type
}

TEST_CASE("the layout is the one of Hugging Face") {
  const Json bpe = parse_json(tokenizer_json(small_bpe()), "t");
  CHECK(bpe["version"] == "1.0");
  CHECK(bpe["model"]["type"] == "BPE");
  CHECK(bpe["model"]["vocab"]["\xC4\xA0"] == 32);
  CHECK(bpe["pre_tokenizer"]["type"] == "ByteLevel");
  CHECK(bpe["pre_tokenizer"]["add_prefix_space"] == false);
  CHECK(bpe["pre_tokenizer"]["use_regex"] == false);
  CHECK(bpe["decoder"]["type"] == "ByteLevel");
  CHECK(bpe["added_tokens"][0]["content"] == "<|endoftext|>");
  CHECK(bpe["added_tokens"][0]["id"] == 256 + bpe["model"]["merges"].size());
  const Json chars = parse_json(tokenizer_json(CharTokenizer(char_vocabulary_of("ba\n"))), "t");
  CHECK(chars["model"]["type"] == "WordLevel");
  CHECK(chars["model"]["vocab"]["\n"] == 2);
  CHECK(chars["pre_tokenizer"]["type"] == "Split");
}

TEST_CASE("damaged and foreign files are refused with the file and the place") {
  const std::string bpe = tokenizer_json(small_bpe());
  refused("");
  refused("[]");
  refused("{}");
  refused(bpe.substr(0, bpe.size() / 2));
  refused(replaced(bpe, "\"BPE\"", "\"Unigram\""));
  refused(replaced(bpe, "\"add_prefix_space\": false", "\"add_prefix_space\": true"));
  refused(replaced(bpe, "\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}"));
  refused(replaced(bpe, "\"!\": 33", "\"!\": 34"));
  refused(replaced(bpe, "\"!\": 33", "\"!\": -1"));
  refused(replaced(bpe, "\"!\": 33", "\"!\": 1000000000"));
  refused(replaced(bpe, "\"merges\": [", "\"merges\": [\"a\","));
  refused(replaced(bpe, "\"content\": \"<|endoftext|>\"", "\"content\": \"\""));
  refused(replaced(bpe, "\"ignore_merges\": false", "\"ignore_merges\": true"));
  refused(replaced(bpe, "\"byte_fallback\": false", "\"byte_fallback\": true"));
  const std::string chars = tokenizer_json(CharTokenizer(char_vocabulary_of("ab")));
  refused(replaced(chars, "\"a\"", "\"aa\""));
  refused(replaced(chars, "\"b\": 1", "\"b\": 0"));
  const std::string ascii = tokenizer_json(AsciiTokenizer());
  refused(replaced(ascii, "\"A\": 65", "\"\xC3\xA9\": 65"));
}

TEST_CASE("merges may be pairs, too") {
  const std::string text = tokenizer_json(BpeTokenizer(BpeModel{{}, {{'l', 'o'}}, {}, "none", 1}));
  const auto back = parse_tokenizer_json(replaced(text, "\"l o\"", "[\"l\", \"o\"]"), "t.json");
  CHECK(back->encode("lol") == std::vector<std::int32_t>{256, 'l'});
}

TEST_CASE("a tokenizer is found by its file or by its folder") {
  const TempDir dir;
  write_file_atomic(dir.path() / "tokenizer.json", tokenizer_json(ByteTokenizer()));
  CHECK(load_tokenizer(dir.path())->type() == "bytes");
  CHECK(load_tokenizer(dir.path() / "tokenizer.json")->type() == "bytes");
  CHECK_THROWS_AS(load_tokenizer(dir.path() / "other"), Error);
}
