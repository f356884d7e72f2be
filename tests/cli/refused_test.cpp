// Requests that are refused: exit code, one line that names what and what would be right, nothing on stderr
// before it, nothing left behind.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/directory_lock.h"
#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

namespace {

/// Exit code and one error line (perhaps with a hint) that holds every one of `parts`; stdout is empty.
void refused(const Call& call, const Args& args, int code, const std::vector<std::string>& parts) {
  const Result r = tool(call, args);
  std::string command;
  for (const std::string& a : args) command += a.substr(0, 60) + " ";
  INFO(command << "\n" << r.out << r.err);
  CHECK(r.code == code);
  CHECK(r.out.empty());
  const auto lines = lines_of(r.err);
  REQUIRE(!lines.empty());
  CHECK(lines.front().rfind("llmtool: error: ", 0) == 0);
  CHECK(lines.size() <= 2);
  if (lines.size() == 2) CHECK(lines.back().rfind("llmtool: hint: ", 0) == 0);
  CHECK(lines.front().find("internal") == std::string::npos);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(has(r.err, part));
  }
  CHECK_FALSE(fs::exists(call.dir / "runs"));
}

void refused(const Call& call, const std::string& line, int code, const std::vector<std::string>& parts) {
  refused(call, words(line), code, parts);
}

}  // namespace

TEST_CASE("texts that cannot be trained on are refused with exit 1") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "empty.txt", "");
  fs::create_directories(dir.path() / "folder");
  write_text(dir.path() / "folder/binary", std::string("a\0b", 3));
  write_text(dir.path() / "short.txt", "hello world");
  refused(call, "train --data empty.txt", 1, {"empty.txt"});
  refused(call, "train --data missing.txt", 1, {"missing.txt", "No such file"});
  refused(call, "train --data folder", 1, {"folder", "no text"});
  refused(call, "train --data short.txt --set tokenizer.type=bytes", 1, {"11 tokens", "33", "block_size"});
  refused(call, "train --data /dev/zero", 1, {"/dev/zero", "without an end"});
  refused(call, "train --set data.val_fraction=0.97", 1, {"33", "held out"});
  refused(call, "tokenize train --input empty.txt --vocab-size 300 --out t.json", 1, {"empty.txt"});
  CHECK_FALSE(fs::exists(dir.path() / "t.json"));
}

TEST_CASE("configuration keys are refused with exit 2, the path and what would be right") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  refused(call, "train --set model.n_embd=65", 2, {"n_embd 65", "n_head 4"});
  refused(call, "train --set train.stepz=5", 2, {"train.stepz", "did you mean train.steps?"});
  refused(call, "train --set max_lr=1", 2, {"did you mean train.max_lr?"});
  refused(call, "train --set train.steps=2.5", 2, {"train.steps", "2.5"});
  refused(call, "train --set train.steps=abc", 2, {"train.steps", "abc", "integer"});
  refused(call, "train --set train.beta2=0.9999999999", 2, {"train.beta2", "below 1"});
  refused(call, "train --set train.eps=1e-300", 2, {"train.eps", "above 0"});
  refused(call, "train --set train.seed=18446744073709551616", 2, {"train.seed", "18446744073709551615"});
  refused(call, "train --set train.steps=0", 2, {"train.steps", "from 1"});
  refused(call, "train --set train.min_lr=0.1", 2, {"train.min_lr 0.1", "train.max_lr 0.003"});
  refused(call, "train --set model.positions=rop", 2, {"did you mean rope?"});
  refused(call, "train --set train.steps", 2, {"KEY=VALUE"});
  refused(call, "train --set data.val_fraction=1.5", 2, {"data.val_fraction", "1.5"});
  refused(call, {"train", "--set", "train.sample_prompt=\"The f\xc3\xb6x\""}, 2, {"\xc3\xb6", "position 5"});
  const auto config = [&](const std::string& text, const std::vector<std::string>& parts) {
    write_text(dir.path() / "c.json", text);
    refused(call, "train --config c.json", 2, parts);
  };
  config(R"({"train":{"steps":5,"steps":6}})", {"c.json", "duplicate", "train.steps"});
  config(R"({"trian":{}})", {"trian", "did you mean train?"});
  config(R"({"max_lr":1})", {"did you mean train.max_lr?"});
  config(R"({"train":{"steps":"12"}})", {"train.steps", "integer"});
  config(R"({"train":{"max_lr":-1}})", {"train.max_lr", "-1"});
  config(R"({"train":5})", {"train", "object"});
  config(R"({"train":{)", {"malformed JSON", "line 1"});
  config("", {"malformed JSON"});
  config("{} // comment", {"malformed JSON"});
  config(std::string(100000, '['), {"nested"});
  refused(call, "train --config none.json", 1, {"none.json"});
}

TEST_CASE("flags and subcommands are refused with exit 2 and the nearest name") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  refused(call, "trian", 2, {"trian", "did you mean train?"});
  refused(call, "tokenize encod x", 2, {"encod", "did you mean encode?"});
  refused(call, "tokenize", 2, {"subcommand", "encode", "decode"});
  refused(call, "generate --promt x", 2, {"--promt", "did you mean --prompt?"});
  refused(call, "demo xorr", 2, {"did you mean xor?"});
  refused(call, "train extra", 2, {"extra"});
  refused(call, "train --seed -1", 2, {"--seed", "-1", "2^64-1"});
  refused(call, "train --seed 18446744073709551616", 2, {"--seed", "2^64-1"});
  refused(call, "train --threads 0", 2, {"--threads 0", "from 1"});
  refused(call, "train --stop-after 0", 2, {"--stop-after 0", "from 1"});
  refused(call, "train --device gpu", 2, {"'gpu'", "vulkan:N"});
  refused(call, "train --profile=abc", 2, {"--profile takes no value", "'abc'"});
  refused(call, "train --set", 2, {"--set needs a value", "KEY=VALUE"});
  refused(call, "train --out a --out b", 2, {"--out was given 2 times"});
  refused(call, "demo gpu --device cpu", 2, {"demo gpu", "--device cpu", "vulkan:N"});
  refused(call, "train --device vulkan:999", 1, {"vulkan:999"});
  // Empty words, as of an unset shell variable, are not "not given".
  for (const char* flag : {"--config", "--data", "--out", "--init-from", "--device"})
    refused(call, {"train", flag, ""}, 2, {flag, "empty"});
  refused(call, {"generate", "--prompt-file", ""}, 2, {"--prompt-file", "empty"});
  refused(call, {"generate", "--prompt", "x", "--model", ""}, 2, {"--model", "empty"});
  refused(call, {"tokenize", "encode", "x", "--tokenizer", ""}, 2, {"--tokenizer", "empty"});
  refused(call, {"tokenize", "encode", "--input", ""}, 2, {"--input", "empty"});
  refused(call, {"generate", "--prompt", "x", "--stop", ""}, 2, {"--stop is empty"});
  refused(call, "generate --top-k 1.5", 2, {"--top-k", "1.5", "whole number"});
  refused(call, "generate --temperature hot", 2, {"--temperature", "hot"});
  refused(call, "generate --temperature -1", 2, {"--temperature", "-1"});
  refused(call, "generate --temperature nan", 2, {"--temperature", "nan"});
  refused(call, "generate --top-p 1.5", 2, {"--top-p", "1.5"});
  refused(call, "generate --num-samples 0", 2, {"--num-samples 0"});
  refused(call, "tokenize train --input x --vocab-size 100 --out t.json", 1, {"x"});
  refused(call, "tokenize decode --tokenizer none.json 1", 1, {"none.json"});
  refused(call, "generate --prompt x", 1, {"runs/default", "llmtool train"});
  refused(call, "eval --data x", 1, {"runs/default", "llmtool train"});
}

TEST_CASE("an output folder that cannot be written is found out before the first step") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  write_text(dir.path() / "file", "x");
  refused(call, "train --out file", 1, {"file"});
  refused(call, "train --out /proc/run", 1, {"/proc/run"});
  if (::geteuid() != 0) {
    fs::create_directory(dir.path() / "locked");
    ::chmod((dir.path() / "locked").c_str(), 0555);
    refused(call, "train --out locked", 1, {"locked"});
  }
}

TEST_CASE("a model too large for memory is refused before anything is allocated") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const auto too_large = [&](const std::string& keys) {
    const Result r = tool(call, words("train --quiet --out deep/run " + keys));
    INFO(keys << "\n" << r.err);
    CHECK(r.code == 1);
    CHECK(r.out.empty());
    CHECK(lines_of(r.err).size() == 2);
    CHECK(has(r.err, "of memory"));
    CHECK(has(r.err, "n_embd"));
    CHECK_FALSE(fs::exists(dir.path() / "deep"));
  };
  too_large("--set model.n_embd=65536 --set model.n_layer=1000");
  too_large("--set model.n_embd=8192 --set model.n_layer=400");
  too_large("--set train.batch_size=1048576 --set model.n_embd=1024");
}

TEST_CASE("a run that is there is refused, and stays as it was") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const std::string small = "train --quiet --set train.steps=2 --set model.n_layer=1 --out r ";
  REQUIRE(tool(call, words(small)).code == 0);
  const std::string before = file_text(dir.path() / "r/metrics.jsonl");
  refused(call, small, 1, {"--resume", "--overwrite"});
  refused(call, small + "--overwrite --set model.n_layer=0", 2, {"n_layer"});
  refused(call, small + "--overwrite --device vulkan:999", 1, {"vulkan:999"});
  {
    const llmtool::DirectoryLock other(dir.path() / "r", "is held by this test");
    refused(call, small + "--overwrite", 1, {"another training", "another folder"});
    refused(call, "train --resume --out r --set train.steps=4", 1, {"another training"});
  }
  refused(call, small + "--overwrite --resume", 2, {"--overwrite"});
  refused(call, "train --resume --out r --set train.steps=1", 2, {"train.steps 1", "step 2"});
  refused(call, "train --resume --out r --stop-after 1", 2, {"--stop-after 1", "step 2"});
  refused(call, "train --resume --out r --set model.n_layer=2", 2, {"model"});
  refused(call, "train --resume --out nowhere", 1, {"nowhere"});
  refused(call, "train --resume step-00000009 --out r", 1, {"step-00000009", "r/checkpoints"});
  refused(call, "train --resume --out r --set tokenizer.type=bytes", 2, {"tokenizer.type bytes", "char"});
  // What is fine-tuned brings its model and tokenizer; a key that asks for another is not passed over.
  refused(call, "train --init-from r --out t --set model.n_embd=32", 2, {"model section", "r/checkpoints"});
  refused(call, "train --init-from r --out t --set tokenizer.type=bytes", 2,
          {"tokenizer.type bytes", "char"});
  {
    // A checkpoint of a newer version is neither gone on from nor written over.
    const fs::path state = dir.path() / "r/checkpoints/step-00000002/trainer_state.json";
    const std::string good = file_text(state);
    std::string newer = good;
    newer.replace(newer.find("llmtool-1"), 9, "llmtool-2");
    write_text(state, newer);
    refused(call, "train --resume --out r --set train.steps=4", 1, {"llmtool-2", "llmtool-1"});
    write_text(state, good);
  }
  CHECK(file_text(dir.path() / "r/metrics.jsonl") == before);
  CHECK(tool(call, words(small + "--overwrite")).code == 0);
}

TEST_CASE("damaged and hostile model files are refused with exit 1") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  REQUIRE(tool(call, words("train --quiet --set train.steps=1 --set model.n_layer=1 --out r")).code == 0);
  const fs::path checkpoint = dir.path() / "r/checkpoints/step-00000001";
  const auto damaged = [&](const std::string& name, const std::string& text) {
    const std::string good = file_text(checkpoint / name);
    REQUIRE(!good.empty());
    write_text(checkpoint / name, text);
    INFO(name << " " << text.size() << " bytes");
    refused(call, "generate --prompt The --seed 1 --quiet --model r", 1, {name});
    write_text(checkpoint / name, good);
  };
  const std::string weights = file_text(checkpoint / "model.safetensors");
  damaged("model.safetensors", "");
  damaged("model.safetensors", weights.substr(0, 7));
  damaged("model.safetensors", weights.substr(0, weights.size() - 1));
  damaged("model.safetensors", std::string(8, '\xff') + weights.substr(8));
  damaged("model.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  std::string flipped = weights;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  damaged("model.safetensors", flipped);
  const std::string tokenizer = file_text(checkpoint / "tokenizer.json");
  damaged("tokenizer.json", tokenizer.substr(0, tokenizer.size() / 2));
  damaged("tokenizer.json", "{}");
  damaged("tokenizer.json", std::string(100000, '['));
  damaged("config.json", "[]");
  damaged("trainer_state.json", "{}");
  std::string newer = file_text(checkpoint / "config.json");
  const std::size_t at = newer.find("llmtool-1");
  REQUIRE(at != std::string::npos);
  newer.replace(at, 9, "llmtool-9");
  damaged("config.json", newer);
  CHECK(tool(call, words("generate --prompt The --seed 1 --model r")).code == 0);
  refused(call, {"generate", "--model", "r", "--prompt", "The f\xc3\xb6x"}, 2, {"\xc3\xb6", "position 5"});
}
