// `llmtool train` with its folder: same bytes whatever the threads, a resume as if never stopped, checkpoints
// kept, counters, fine-tuning, early stop, divergence.
#include <filesystem>

#include "cli/runs.h"
#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

namespace {

const std::string small =
    "train --quiet --set model.n_layer=1 --set model.n_head=2 --set model.n_embd=16 --set "
    "model.block_size=16 "
    "--set train.batch_size=4 --set train.warmup_steps=5 ";

Result run(const Call& call, const std::string& rest) {
  Result r = tool(call, words(small + rest));
  INFO(rest << "\n" << r.out << r.err);
  CHECK(r.code == 0);
  return r;
}

}  // namespace

TEST_CASE("the same seed gives the same bytes with any number of threads") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const std::string rest = "--set train.steps=4 --set model.dropout=0.1 ";
  for (const char* n : {"1", "2", "3"}) run(call, rest + "--threads " + n + " --out t" + n);
  same_run(dir.path() / "t1", dir.path() / "t2", "step-00000004");
  same_run(dir.path() / "t1", dir.path() / "t3", "step-00000004");
  run(call, rest + "--seed 7 --out other");
  CHECK(file_text(dir.path() / "t1/checkpoints/step-00000004/model.safetensors") !=
        file_text(dir.path() / "other/checkpoints/step-00000004/model.safetensors"));
}

TEST_CASE("a stopped and resumed run equals one that was not stopped") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "a.txt", std::string(300, 'a') + "bcd" + std::string(300, 'b') + "acdc");
  const std::string rest =
      "--data a.txt --set tokenizer.type=char --set train.steps=40 --set train.keep_checkpoints=9 --set "
      "train.eval_every=10 "
      "--set train.grad_accum_steps=2 --set model.dropout=0.1 --set data.val_fraction=0.2 ";
  run(call, rest + "--out whole");
  const Result stopped = run(call, rest + "--out parts --stop-after 17");
  CHECK_FALSE(has(stopped.out, "final"));
  CHECK(file_text(dir.path() / "parts/latest") == "step-00000017\n");
  fs::remove(dir.path() / "a.txt");  // a resume needs no text
  const Result resumed = tool(call, words("train --resume --out parts --quiet"));
  INFO(resumed.out << resumed.err);
  CHECK(resumed.code == 0);
  CHECK(has(lines_of(resumed.out).front(), "resumed after step 17"));
  CHECK(has(resumed.out, "final | val_loss "));
  same_run(dir.path() / "whole", dir.path() / "parts", "step-00000040");

  SECTION("from an earlier checkpoint, the metrics are cut back") {
    const Result again = tool(
        call,
        words("train --resume whole/checkpoints/step-00000040 --out whole --quiet --set train.steps=45"));
    INFO(again.err);
    CHECK(again.code == 0);
    CHECK(has(again.out, "step    45 "));
    const Result back =
        tool(call, words("train --resume parts/checkpoints/step-00000017 --out parts --quiet"));
    INFO(back.err);
    CHECK(back.code == 0);
    CHECK(lines_of(file_text(dir.path() / "parts/metrics.jsonl")).size() == 5);
  }
  SECTION("a finished run resumed changes nothing") {
    const Result again = tool(call, words("train --resume --out whole"));
    CHECK(again.code == 0);
    CHECK(line_with(again.out, "final") == line_with(resumed.out, "final"));
    same_run(dir.path() / "whole", dir.path() / "parts", "step-00000040");
  }
}

TEST_CASE("sgd with momentum and without resume alike") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  for (const char* momentum : {"0", "0.9"}) {
    const std::string rest = std::string("--overwrite --set train.steps=6 --set train.optimizer=sgd ") +
                             "--set train.momentum=" + momentum + " ";
    run(call, rest + "--out whole");
    run(call, rest + "--out parts --stop-after 3");
    CHECK(tool(call, words("train --resume --out parts --quiet")).code == 0);
    same_run(dir.path() / "whole", dir.path() / "parts", "step-00000006");
  }
}

TEST_CASE("checkpoints rotate; best and latest point at theirs; early stop") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  run(call, "--set train.steps=10 --set train.save_every=2 --set train.keep_checkpoints=2 --out r");
  std::vector<std::string> kept;
  for (const auto& entry : fs::directory_iterator(dir.path() / "r/checkpoints"))
    kept.push_back(entry.path().filename().string());
  std::sort(kept.begin(), kept.end());
  CHECK(kept == std::vector<std::string>{"step-00000008", "step-00000010"});

  // What is held out has nothing to do with what is learned, so that the loss on it rises.
  write_text(dir.path() / "train.txt", std::string(400, 'a') + "bcdefgh");
  write_text(dir.path() / "val.txt", "hgfedcbhgfedcbhgfedcbhgfedcb");
  const Result early = tool(
      call,
      words("train --set model.n_layer=1 --set model.n_embd=16 --set model.block_size=8 --data train.txt "
            "--set data.val_paths=[\"val.txt\"] --set tokenizer.type=char --set train.steps=400 "
            "--set train.eval_every=20 --set train.early_stop_patience=2 --set train.max_lr=0.01 --out e"));
  INFO(early.out << early.err);
  CHECK(early.code == 0);
  CHECK(has(early.err, "stopped early"));
  CHECK(has(early.out, "final | val_loss"));
  CHECK_FALSE(has(early.out, "step   400 "));
  const std::string best = file_text(dir.path() / "e/best"), latest = file_text(dir.path() / "e/latest");
  CHECK(best != latest);
  CHECK(fs::exists(dir.path() / "e/checkpoints" / best.substr(0, best.size() - 1)));
}

TEST_CASE("a step is one submission, and waits for an earlier one at most once") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const Result r = run(call,
                       "--json --set train.steps=12 --set train.eval_every=4 --set data.val_fraction=0.2 "
                       "--set train.grad_accum_steps=2 --out r");
  const std::string counters = line_with(r.out, R"("event":"counters")");
  INFO(r.out);
  CHECK(number_after(counters, R"("steps":)") == 12);
  CHECK(number_after(counters, R"("submits_per_step":)") == 1);
  CHECK(number_after(counters, R"("max_waits_per_step":)") <= 1);
  CHECK(has(counters, R"("waited_for_own_step":false)"));
  CHECK(number_after(counters, R"("bytes_fetched_per_step":)") == 16);
  CHECK(number_after(counters, R"("new_blocks_after_first":)") == 0);
  for (const std::string& line : lines_of(r.out)) CHECK((line.front() == '{' && line.back() == '}'));
  CHECK(has(line_with(r.out, R"("event":"start")"), R"("parameters":)"));
  CHECK(has(line_with(r.out, R"("event":"log")"), R"("val_loss":)"));
  CHECK(has(line_with(r.out, R"("event":"final")"), R"("bits_per_byte":)"));
  CHECK(has(line_with(r.out, R"("event":"sample")"), R"("text":)"));
  CHECK(r.err.empty());
}

TEST_CASE("an integer where a number is wanted, several files, fine-tuning, a dry run") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "one file.txt", "The fox sat on the wall and looked at the moon.\n");
  write_text(dir.path() / "zwei \xc3\xa4.txt", "The moon looked back, and said nothing at all.\n");
  write_text(dir.path() / "c.json",
             R"({"train": {"max_lr": 1, "steps": 2.0}, "tokenizer": {"type": "char"}})");
  Args args = words(small + "--config c.json --out first --data");
  args.push_back("one file.txt");
  args.push_back("zwei \xc3\xa4.txt");
  const Result r = tool(call, args);
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  CHECK(has(r.out, "95 tokens"));
  // The resolved configuration reproduces the run.
  REQUIRE(tool(call, words("train --quiet --config first/config.json --out second")).code == 0);
  same_run(dir.path() / "first", dir.path() / "second", "step-00000002");

  // Fine-tuning over the very run it starts from, with the first run's shape and tokenizer.
  Args tune = words(
      "train --quiet --init-from first --out first --overwrite --set train.steps=1 --set train.max_lr=1e-6 "
      "--data");
  tune.push_back("one file.txt");
  const Result tuned = tool(call, tune);
  INFO(tuned.err);
  CHECK(tuned.code == 0);
  CHECK(has(tuned.out, "48 tokens"));
  CHECK(line_with(tuned.out, "training:").find("vocab") != std::string::npos);

  const Result plan = tool(call, words("train --dry-run --out nowhere"));
  CHECK(plan.code == 0);
  CHECK(has(plan.out, "102336 (100544 decayed, 1792 not)"));
  CHECK(has(line_with(plan.out, "device "), "available: the run fits"));
  CHECK(lines_of(plan.err).size() == 1);  // which device was taken
  CHECK(has(plan.err, "device: "));
  CHECK_FALSE(fs::exists(dir.path() / "nowhere"));
  const Result huge = tool(
      call, words("train --dry-run --device cpu --set train.batch_size=1000000 --set model.n_embd=1024"));
  CHECK(huge.code == 0);
  CHECK(huge.err.empty());
  CHECK(has(line_with(huge.out, "device "), "cpu, "));
  CHECK(has(huge.out, "available: the run does NOT fit"));
  const Result wide =
      tool(call, words("train --dry-run --device cpu --set model.n_layer=10 --set model.n_head=64 "
                       "--set model.n_embd=65536"));
  CHECK(wide.code == 0);
  CHECK(has(wide.out, "activations not counted"));
  CHECK(has(wide.out, "available: the run does NOT fit"));
  const std::string json = tool(call, words("train --dry-run --json")).out;
  CHECK(has(json, R"("tokens_per_step":256)"));
  CHECK(has(json, R"("fits":true)"));
  const Result keys = tool(call, words("train --config-keys --json"));
  CHECK(lines_of(keys.out).size() == 1);
  CHECK(has(keys.out, R"({"key":"model.n_layer","type":"integer")"));
}

TEST_CASE("a run that diverges ends with exit 1, the step and the knobs") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const Result r = tool(call, words(small + "--set train.optimizer=sgd --set train.max_lr=1000 --set "
                                            "train.grad_clip=0 --set train.steps=200 --out r"));
  INFO(r.out << r.err);
  CHECK(r.code == 1);
  CHECK(has(r.err, "diverged"));
  CHECK(has(r.err, "at step "));
  CHECK(has(r.err, "train.max_lr"));
  // Nothing was saved, so nothing can be gone on with.
  CHECK(has(r.err, "start over with --overwrite"));
  CHECK_FALSE(has(r.err, "--resume"));
}

TEST_CASE("best is the smallest val_loss of all evaluations, the first included") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  // A rate that spoils the model at once.
  REQUIRE(
      tool(call, words("train --quiet --device cpu --set model.n_layer=1 --set data.val_fraction=0.3 --set "
                       "train.max_lr=0.5 --set train.warmup_steps=0 --set train.steps=4 --set "
                       "train.eval_every=1 --out r"))
          .code == 0);
  double least = 1e300;
  int at = 0, step = 0;
  for (const std::string& line : lines_of(file_text(dir.path() / "r/metrics.jsonl"))) {
    ++step;
    if (const double loss = number_after(line, R"("val_loss":)"); loss < least) least = loss, at = step;
  }
  CHECK(step == 4);
  CHECK(at == 1);
  CHECK(file_text(dir.path() / "r/best") == "step-00000001\n");
}

TEST_CASE("a report that cannot be written leaves the checkpoint, and the error says how to go on from it") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  fs::create_directories(dir.path() / "r/report.html");
  const Result r = tool(call, words(small + "--set train.steps=3 --out r"));
  INFO(r.err);
  CHECK(r.code == 1);
  CHECK(has(r.err, "report.html"));
  CHECK(has(r.err, "step-00000003: go on with llmtool train --resume"));
  CHECK_FALSE(has(r.err, "--overwrite"));
  CHECK(fs::exists(dir.path() / "r/checkpoints/step-00000003/model.safetensors"));
}

TEST_CASE("lines of the log that cannot be read are one warning at a resume") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  REQUIRE(tool(call, words(small + "--quiet --set train.steps=4 --stop-after 2 --out r")).code == 0);
  std::string junk;
  for (int i = 0; i < 100; ++i) junk += "\xff\x1b[31m\n";
  write_text(dir.path() / "r/metrics.jsonl", junk + file_text(dir.path() / "r/metrics.jsonl"));
  const Result r = tool(call, words("train --quiet --resume --out r"));
  INFO(r.err);
  CHECK(r.code == 0);
  CHECK(lines_of(r.err).size() == 1);
  CHECK(has(r.err, "100 lines of the log cannot be read"));
  CHECK_FALSE(has(r.err, "\x1b"));
}
