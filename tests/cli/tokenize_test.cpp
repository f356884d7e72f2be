// `llmtool tokenize`: what it trains, and that every byte comes back.
#include <filesystem>

#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

TEST_CASE("tokenize trains, encodes and decodes") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "low.txt", "low low low low low lowest lowest newest newest newest");
  const Result train = tool(call, words("tokenize train --input low.txt --vocab-size 258 --out t.json"));
  INFO(train.err);
  REQUIRE(train.code == 0);
  CHECK(tool(call, words("tokenize encode low --tokenizer t.json")).out == "257\n");
  CHECK(tool(call, words("tokenize decode 257 --tokenizer t.json")).out == "low");
  CHECK(tool(call, words("tokenize decode --json 257 --tokenizer t.json")).out == "{\"text\":\"low\"}\n");
  CHECK(has(tool(call, words("tokenize encode low --json --tokenizer t.json")).out, R"("ids":[257])"));
  const Result inspect = tool(call, {"tokenize", "inspect", "low x", "--tokenizer", "t.json"});
  CHECK(has(inspect.out, "|low| |x|"));
  CHECK(has(inspect.out, "3 tokens, 5 bytes, 1.667"));

  // Fewer than asked for is said.
  const Result few = tool(call, words("tokenize train --input low.txt --vocab-size 1000 --json --out -"));
  CHECK(few.code == 0);
  CHECK(has(few.err, "of the 1000 asked for: no pair of tokens is left to merge"));
  const Result twice =
      tool(call, words("tokenize train --input low.txt --vocab-size 1000 --min-frequency 5 --out few.json"));
  CHECK(has(twice.err, "no pair of tokens is left that occurs at least 5 times"));
  write_text(dir.path() / "aa.txt", "aa");
  CHECK(has(tool(call, words("tokenize train --input aa.txt --vocab-size 257 --out aa.json")).out,
            "257 tokens (1 merge), 2.000 bytes per token"));
  CHECK(has(tool(call, words("tokenize pack --input aa.txt --tokenizer aa.json --out aa")).out,
            "aa: 1 token of 16 bits in 1 shard, 2 bytes of text"));
  CHECK(tool(call, words("tokenize train --input low.txt --vocab-size 255 --out u.json")).code == 2);
  CHECK(tool(call, words("tokenize train --input low.txt --vocab-size 300 --out /proc/u.json")).code == 1);
  CHECK_FALSE(fs::exists(dir.path() / "u.json"));
}

TEST_CASE("any bytes come back, without a tokenizer at hand too") {
  const TempDir dir;
  Call call{dir.path(), {}, {}, {}};
  std::string all;
  for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  for (const std::string& bytes :
       {std::string("\xe6\xad"), std::string("a\0b\0", 4), all, std::string("the garden")}) {
    call.input = bytes;
    const Result ids = tool(call, words("tokenize encode --input -"));
    CHECK(ids.code == 0);
    call.input = ids.out;
    const Result back = tool(call, words("tokenize decode --input -"));
    CHECK(back.code == 0);
    CHECK((back.out == bytes));
  }
  CHECK(tool(call, {"tokenize", "encode", ""}).out == "\n");
  call.input = "";
  CHECK(tool(call, words("tokenize encode --input -")).out == "\n");
  CHECK(tool(call, words("tokenize decode --input -")).out.empty());
  CHECK(tool(call, {"tokenize", "inspect", ""}).code == 0);

  const Result beyond = tool(call, words("tokenize decode 1 400"));
  CHECK(beyond.code == 2);
  CHECK(has(beyond.err, "400"));
  CHECK(beyond.out.empty());
  CHECK(tool(call, words("tokenize decode -1")).code == 2);
  CHECK(tool(call, words("tokenize decode 1x")).code == 2);
  CHECK(tool(call, words("tokenize decode 99999999999")).code == 2);
  CHECK(tool(call, words("tokenize encode")).code == 2);
  CHECK(has(tool(call, {"tokenize", "inspect", "the garden", "--json"}).out, R"("tokens":2)"));
}

TEST_CASE("a vocabulary learned with splitting trains a model, and control tokens come only when allowed") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  std::string corpus;
  for (int i = 0; i < 40; ++i) corpus += "It's 2 o'clock, it's 3 o'clock; the clock's 12 hours.\n";
  write_text(dir.path() / "t.txt", corpus);
  for (const std::string split : {"gpt2", "gpt4"}) {
    INFO(split);
    const Result learned =
        tool(call, words("tokenize train --input t.txt --vocab-size 270 --special <|endoftext|> --out t.json "
                         "--pretokenizer " +
                         split));
    INFO(learned.err);
    REQUIRE(learned.code == 0);
    const Args encode = {"tokenize", "encode", "a<|endoftext|>", "--tokenizer", "t.json"};
    Args allowed = encode;
    allowed.push_back("--allow-special");
    CHECK(words(tool(call, encode).out).size() > 2);
    CHECK(words(tool(call, allowed).out).size() == 2);
    const Result trained =
        tool(call, words("train --data t.txt --set tokenizer.vocab_size=270 --set train.steps=3 "
                         "--set tokenizer.pretokenizer=" +
                         split + " --out " + split));
    INFO(trained.err);
    CHECK(trained.code == 0);
    CHECK(has(trained.out, "bpe (vocab 270)"));
  }
}
