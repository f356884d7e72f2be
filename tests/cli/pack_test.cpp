// `llmtool tokenize pack`, and training from what it wrote.
#include <cmath>
#include <filesystem>

#include "base/directory_lock.h"
#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

namespace {

std::string corpus() {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += "The fox asked the snail why it was slow, and she said: \"I carry a house.\"\n";
  return text;
}

const std::string small =
    " --set model.n_layer=1 --set model.n_embd=16 --set model.n_head=2 --set model.block_size=16 "
    "--set train.batch_size=4 --set train.steps=6 --set train.warmup_steps=2 --seed 5 ";

}  // namespace

TEST_CASE("pack writes shards that train reads as it would read the text") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "t.txt", corpus());
  REQUIRE(tool(call, words("tokenize train --input t.txt --vocab-size 300 --pretokenizer gpt2 --out t.json"))
              .code == 0);
  const Result pack = tool(
      call, words("tokenize pack --input t.txt --tokenizer t.json --out packed --shard-tokens 500 --json"));
  INFO(pack.err);
  REQUIRE(pack.code == 0);
  CHECK(has(pack.out, "\"bytes\":4440"));
  CHECK(has(pack.out, "\"token_bytes\":2"));
  CHECK(has(pack.out, "shard-00001.tokens"));
  CHECK(fs::exists(dir.path() / "packed/tokenizer.json"));
  CHECK(file_text(dir.path() / "packed/shard-00000.tokens").substr(0, 8) == "llmtoken");

  const std::string with = small + "--set data.val_fraction=0.2 ";
  const Result from_text = tool(
      call, words("train --data t.txt --out a --set tokenizer.type=file --set tokenizer.path=t.json" + with));
  const Result from_shards = tool(call, words("train --data packed --out b" + with));
  INFO(from_text.err << from_shards.err);
  REQUIRE(from_text.code == 0);
  REQUIRE(from_shards.code == 0);
  CHECK(has(from_shards.out, "bpe (vocab 300)"));
  CHECK(number_after(line_with(from_text.out, "final"), "bits_per_byte") > 0);
  CHECK(line_with(from_text.out, "final") == line_with(from_shards.out, "final"));
  CHECK(file_text(dir.path() / "a/checkpoints/step-00000006/model.safetensors") ==
        file_text(dir.path() / "b/checkpoints/step-00000006/model.safetensors"));
  // The ids stay where they are; a resume maps them again.
  CHECK_FALSE(fs::exists(dir.path() / "b/tokens.safetensors"));
  const Result resumed = tool(call, words("train --resume --out b --set train.steps=8"));
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK_FALSE(has(resumed.err, "differ"));

  const Result on_text = tool(call, words("eval --model b --data t.txt --json"));
  const Result on_shards = tool(call, words("eval --model b --data packed --json"));
  CHECK(on_text.code == 0);
  CHECK(on_text.out == on_shards.out);
}

TEST_CASE("pack: what does not belong together is refused") {
  const TempDir dir;
  Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "t.txt", corpus());
  REQUIRE(tool(call, words("tokenize train --input t.txt --vocab-size 300 --out t.json")).code == 0);
  REQUIRE(tool(call, words("tokenize train --input t.txt --vocab-size 290 --out u.json")).code == 0);
  REQUIRE(tool(call, words("tokenize pack --input t.txt --tokenizer t.json --out p")).code == 0);
  const auto refused = [&](const std::string& args, int code, const std::string& why) {
    const Result r = tool(call, words(args));
    INFO(args << "\n" << r.err);
    CHECK(r.code == code);
    CHECK(has(r.err, why));
    CHECK(r.out.empty());
  };
  refused("tokenize pack --input t.txt --tokenizer t.json --out p", 1, "already holds token shards");
  // Nobody's tokenizer.json is replaced, a model's not even when asked, and one pack writes at a time.
  fs::create_directories(dir.path() / "own");
  write_text(dir.path() / "own/tokenizer.json", "{}");
  refused("tokenize pack --input t.txt --tokenizer t.json --out own", 1, "another tokenizer.json");
  write_text(dir.path() / "own/model.safetensors", "x");
  refused("tokenize pack --input t.txt --tokenizer t.json --out own --overwrite", 1, "holds a model");
  {
    const llmtool::DirectoryLock other(dir.path() / "p", "is held by this test");
    refused("tokenize pack --input t.txt --tokenizer t.json --out p --overwrite", 1, "another run");
  }
  CHECK(tool(call, words("tokenize pack --input t.txt --tokenizer t.json --out p --overwrite")).code == 0);
  refused("tokenize pack --input none.txt --out q", 1, "none.txt");
  refused("tokenize pack --input p --out q", 2, "holds token shards: expected text");
  refused("tokenize train --input p --vocab-size 300 --out v.json", 2, "holds token shards: expected text");
  refused("tokenize pack --input t.txt --out /proc/q", 1, "/proc/q");
  refused("tokenize pack --input t.txt --out q --shard-tokens 0", 2, "--shard-tokens");
  CHECK_FALSE(fs::exists(dir.path() / "q"));

  refused("train --data p --out r --set tokenizer.type=file --set tokenizer.path=u.json", 1,
          "packed with another tokenizer");
  refused("train --data p --out r --set tokenizer.type=char", 2, "tokenizer.type is char");
  refused("train --data p t.txt --out r", 2, "either the one or the other");
  CHECK_FALSE(fs::exists(dir.path() / "r"));
  const Result model = tool(call, words("train --data t.txt --out m --set tokenizer.vocab_size=280" + small));
  REQUIRE(model.code == 0);
  refused("eval --model m --data p", 1, "packed with another tokenizer");
  refused("train --init-from m --data p --out r" + small, 1, "packed with another tokenizer");

  for (const char* paths : {"p none", "none p", "p none/x.tokens", "none"})
    refused(std::string("train --data ") + paths + " --out r", 1, "No such file or directory");
  refused("train --data p none --out r", 1, "'none'");
  refused("eval --model m --data p none", 1, "'none'");
  CHECK_FALSE(fs::exists(dir.path() / "r"));

  // A packing that replaced the tokenizer and was killed before it replaced the shards.
  const std::string own = file_text(dir.path() / "p/tokenizer.json");
  write_text(dir.path() / "p/tokenizer.json", file_text(dir.path() / "u.json"));
  refused("train --data p --out r" + small, 1, "is not the tokenizer that");
  write_text(dir.path() / "p/tokenizer.json", own);
  // One that was killed before it: what is left is not taken for a text.
  fs::create_directories(dir.path() / "begun");
  write_text(dir.path() / "begun/tokenizer.json", own);
  write_text(dir.path() / "begun/.shard-00000.tokens.tmp", "begun");
  refused("train --data begun --out r" + small, 1, "not finished");

  // An id beyond the vocabulary: bytes 72 and 73 are the first id.
  const fs::path shard = dir.path() / "p/shard-00000.tokens";
  std::string bytes = file_text(shard);
  bytes[73] = '\x7F';
  write_text(shard, bytes);
  refused("train --data p --out r" + small, 1, "outside the vocabulary of 300");
  write_text(shard, bytes.substr(0, 1000));
  refused("train --data p --out r" + small, 1, "the header says");
  fs::remove(dir.path() / "p/tokenizer.json");
  write_text(shard, bytes);
  refused("train --data p --out r" + small, 1, "no tokenizer.json");
}

TEST_CASE("pack reads standard input and any number of files, with any number of threads") {
  const TempDir dir;
  Call call{dir.path(), {}, {}, {}};
  std::string text;
  for (int i = 0; i < 2000; ++i) text += corpus().substr(static_cast<std::size_t>(i % 50), 2000);
  write_text(dir.path() / "a.txt", text.substr(0, 1000003));
  write_text(dir.path() / "b.txt", text.substr(1000003));
  call.input = text;
  REQUIRE(tool(call, words("tokenize pack --input - --out one --threads 1")).code == 0);
  REQUIRE(tool(call, words("tokenize pack --input a.txt b.txt --out two --threads 3")).code == 0);
  CHECK(
      (file_text(dir.path() / "one/shard-00000.tokens") == file_text(dir.path() / "two/shard-00000.tokens")));
}
