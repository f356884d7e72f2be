// `llmtool demo`, then a bare `train` and `generate`, as a first-time user types them.
#include <filesystem>
#include <regex>

#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

TEST_CASE("demo shows the promised values") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const Result tensor = tool(call, words("demo tensor"));
  CHECK(tensor.code == 0);
  CHECK(has(tensor.out, "z = 7, dz/dx = 3, dz/dy = 2, dz/dw = 1"));
  CHECK(has(tensor.out, "step 0 | loss 285"));
  CHECK(has(tensor.out, "w = 2.00, b = 1.00"));
  const Result xor_ = tool(call, words("demo xor"));
  CHECK(has(xor_.out, "22 parameters"));
  CHECK(has(xor_.out, "4/4"));
  for (const char* step : {"step 0 ", "step 200 ", "step 400 ", "step 600 ", "step 800 ", "step 1000 "})
    CHECK(has(xor_.out, step));
  const Result bpe = tool(call, words("demo bpe"));
  CHECK(has(bpe.out, "400 tokens = 256 bytes + 144 merges"));
  CHECK(has(bpe.out, "(2 tokens: "));
  CHECK(has(bpe.out, "Red -> "));
  CHECK(has(bpe.out, "f, o, x -> 102 111 120"));
  const Result json = tool(call, words("demo tensor --json"));
  CHECK(lines_of(json.out).size() == 1);
  CHECK(has(json.out, R"("first_loss":285)"));
  CHECK(tool(call, words("demo gpu")).code == 0);
  CHECK(fs::is_empty(dir.path()));
}

TEST_CASE("demo gpt learns, and the cache changes no token") {
  const Result r = tool({}, words("demo gpt"));
  CHECK(r.code == 0);
  CHECK(has(r.out, "102336 parameters"));
  CHECK(number_after(line_with(r.out, "step   100 "), "train_loss ") <= 1.6);
  CHECK(number_after(line_with(r.out, "step   600 "), "train_loss ") <= 0.20);
  CHECK(number_after(line_with(r.out, "step   100 "), "lr ") == Approx(0.002947));
  CHECK(number_after(line_with(r.out, "step   500 "), "lr ") == Approx(0.000518));
  CHECK(line_with(r.out, "Once upon a").size() > 11);
  CHECK(has(r.out, "tokens are equal"));
}

TEST_CASE("bare train, then generate") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  // Everything as by default but for fewer steps: demo gpt is the same run.
  const Result train = tool(call, words("train --set train.steps=120"));
  INFO(train.out << train.err);
  REQUIRE(train.code == 0);
  CHECK(lines_of(train.out).front() ==
        "training: char (vocab 35) | 102336 parameters | 669 tokens (train 669 / val 0) | batch 8 block 32 | "
        "expected first loss ln 35 = 3.56");
  const std::regex log(
      R"(step +\d+ \| lr \d\.\d{6} \| train_loss \d+\.\d{4} \| grad_norm \d+\.\d{2,4} \| \d+(\.\d)?[kM]? tok/s)");
  int logged = 0;
  for (const std::string& line : lines_of(train.out)) {
    if (line.rfind("step ", 0) != 0) continue;
    ++logged;
    INFO(line);
    CHECK(std::regex_match(line, log));
  }
  CHECK(logged == 3);  // 1, 100, 120
  CHECK_FALSE(has(train.out, "final"));
  CHECK(has(train.err, "auto") == false);
  CHECK(has(line_with(train.err, "device:"), "cpu"));
  for (const char* name : {"config.json", "metrics.jsonl", "loss.svg", "report.html", "latest", "best",
                           "checkpoints/step-00000120/model.safetensors"})
    CHECK(fs::exists(dir.path() / "runs/default" / name));
  CHECK(file_text(dir.path() / "runs/default/latest") == "step-00000120\n");
  CHECK(file_text(dir.path() / "runs/default/best") == "step-00000120\n");

  const Result text = tool(call, {"generate", "--prompt", "The fox"});
  INFO(text.err);
  CHECK(text.code == 0);
  CHECK(text.out.rfind("The fox", 0) == 0);
  CHECK(text.out.size() == 7 + 80 + 1);
  CHECK(has(text.err, "seed "));
}

TEST_CASE("help lists what there is") {
  const Result none = tool({}, {});
  CHECK(none.code == 0);
  for (const char* name : {"demo", "train", "generate", "tokenize", "eval", "devices", "bench"})
    CHECK(has(none.out, name));
  const Result train = tool({}, words("train --help"));
  CHECK(train.code == 0);
  for (const char* part :
       {"llmtool train", "--stop-after", "--init-from", "--profile", "train.max_lr", "model.n_embd", "0.003"})
    CHECK(has(train.out, part));
  CHECK(has(tool({}, words("--version")).out, "llmtool 0."));
  CHECK(has(tool({}, words("tokenize encode --help")).out, "llmtool tokenize encode"));
  CHECK(has(tool({}, words("devices --json")).out, R"("devices":[)"));
}
