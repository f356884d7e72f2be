// A model and a tokenizer that do not belong together are refused by every command that would use them.
#include <filesystem>

#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

TEST_CASE("another tokenizer of the same size is refused by generate, eval, --resume and --init-from") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  std::string text;
  for (int i = 0; i < 30; ++i) text += "The fox asked the snail why it was slow. ";
  write_text(dir.path() / "t.txt", text);
  write_text(dir.path() / "u.txt",
             "Something else entirely, which has other pairs of letters in it than foxes do.");
  const Result trained = tool(
      call,
      words("train --data t.txt --out m --set tokenizer.vocab_size=270 --set model.n_layer=1 --set "
            "model.n_embd=16 "
            "--set model.n_head=2 --set model.block_size=16 --set train.steps=2 --set train.warmup_steps=1"));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const fs::path tokenizer = dir.path() / "m/checkpoints/step-00000002/tokenizer.json";
  const std::string own = file_text(tokenizer);
  REQUIRE(tool(call, words("tokenize train --input u.txt --vocab-size 270 --out other.json")).code == 0);
  fs::copy_file(dir.path() / "other.json", tokenizer, fs::copy_options::overwrite_existing);
  for (const std::string command :
       {"generate --model m --prompt fox --seed 1", "eval --model m --data t.txt",
        "train --init-from m --data t.txt --out n",
        "train --resume m/checkpoints/step-00000002 --out m --set train.steps=3"}) {
    INFO(command);
    const Result r = tool(call, words(command));
    CHECK(r.code == 1);
    CHECK(has(r.err, "is not the tokenizer this model was trained with"));
    CHECK(r.out.empty());
  }
  // Passed over, and there is no other.
  CHECK(tool(call, words("train --resume --out m --set train.steps=3")).code == 1);
  write_text(tokenizer, own);
  CHECK(tool(call, words("generate --model m --prompt fox --seed 1")).code == 0);
  CHECK(tool(call, words("train --resume --out m --set train.steps=3")).code == 0);
}
