// Configurations: presets under explicit keys, every kind of error, resolution and the worked examples.
#include "checkpoint/train_config.h"

#include <vector>

#include "base/error.h"
#include "model/gpt.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using namespace llmtool;

namespace {

using Sets = std::vector<std::string>;

TrainConfig from_text(const std::string& json, const Sets& sets = {}) {
  const TempDir dir;
  write_file_atomic(dir.path() / "c.json", json);
  return load_train_config((dir.path() / "c.json").native(), sets);
}

/// The message of the error, which must be of that kind.
template <class F>
std::string error_of(F&& f, ErrorKind kind = ErrorKind::request) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  return "(none)";
}

std::string refused(const std::string& json) {
  return error_of([&] { from_text(json); });
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

std::int64_t parameters(const std::string& preset, std::int64_t vocab) {
  return GPT(ModelConfig::from_preset(preset), vocab).parameter_count();
}

}  // namespace

TEST_CASE("without a file everything has its default, and --set overrides") {
  const TrainConfig plain = load_train_config("", {});
  CHECK(plain.model.n_embd == 64);
  CHECK(plain.train.steps == 600);
  CHECK(plain.train.final_lr() == Approx(3e-4));
  const TrainConfig set =
      load_train_config("", {"train.steps=200", "train.max_lr=1", "tokenizer.type=bytes"});
  CHECK(set.train.steps == 200);
  CHECK(set.train.max_lr == 1);
  CHECK(set.tokenizer.type == "bytes");
}

TEST_CASE("a preset lies under explicit keys, wherever they stand") {
  const TrainConfig c = from_text(R"({"model": {"n_layer": 3, "preset": "tinygpt"}})");
  CHECK(c.model.n_layer == 3);
  CHECK(c.model.n_embd == 128);
  CHECK(c.model.positions == "learned");
  CHECK_FALSE(c.model.tie_embeddings);
  const TrainConfig by_set =
      from_text(R"({"model": {"n_embd": 32}})", {"model.preset=char", "model.n_head=4"});
  CHECK(by_set.model.n_layer == 6);
  CHECK(by_set.model.n_embd == 32);
  CHECK(by_set.model.n_head == 4);
  CHECK(by_set.model.block_size == 256);
}

TEST_CASE("presets have the documented sizes") {
  CHECK(parameters("tiny", 35) == 102336);
  CHECK(parameters("tiny", 100) == 106496);
  CHECK(parameters("tinygpt", 128) == 840448);
}

TEST_CASE("unknown and misspelt keys name the nearest") {
  has(refused(R"({"max_lr": 1e-3})"), "did you mean train.max_lr");
  has(refused(R"({"train": {"max_rl": 1e-3}})"), "did you mean train.max_lr");
  has(refused(R"({"modle": {}})"), "model");
  has(error_of([] { load_train_config("", {"train.setps=3"}); }), "train.steps");
  has(error_of([] { load_train_config("", {"steps=3"}); }), "train.steps");
  has(refused(R"({"model": {"preset": "tinny"}})"), "tiny");
}

TEST_CASE("duplicate, mistyped, fractional and out-of-range values name the path") {
  has(refused(R"({"train": {"steps": 1, "steps": 2}})"), "train.steps");
  has(refused(R"({"train": {"steps": "12"}})"), "train.steps");
  has(refused(R"({"train": {"steps": 2.5}})"), "train.steps");
  has(refused(R"({"train": {"steps": 0}})"), "train.steps");
  has(refused(R"({"train": {"seed": -1}})"), "train.seed");
  has(refused(R"({"train": {"beta1": 1}})"), "train.beta1");
  has(refused(R"({"train": {"steps": null}})"), "train.steps");
  has(refused(R"({"model": {"attn_bias": 1}})"), "model.attn_bias");
  has(refused(R"({"data": {"paths": "a.txt"}})"), "data.paths");
  has(refused(R"({"train": 3})"), "train");
  has(refused("[]"), "object");
  has(refused("{\"train\": // no\n {}}"), "JSON");
  has(refused(std::string(100000, '[')), "nested");
}

TEST_CASE("integers written as reals and reals written as integers are fine") {
  const TrainConfig c =
      from_text(R"({"train": {"steps": 1000.0, "max_lr": 1, "seed": 18446744073709551615}})");
  CHECK(c.train.steps == 1000);
  CHECK(c.train.max_lr == 1.0);
  CHECK(c.train.seed == ~std::uint64_t{0});
}

TEST_CASE("rules across keys") {
  has(refused(R"({"model": {"n_embd": 65}})"), "n_head");
  has(refused(R"({"model": {"n_kv_head": 3}})"), "n_kv_head");
  has(refused(R"({"model": {"n_embd": 12}})"), "even");
  CHECK(from_text(R"({"model": {"n_embd": 12, "positions": "none"}})").model.head_size() == 3);
  has(refused(R"({"train": {"max_lr": 1e-3, "min_lr": 2e-3}})"), "train.min_lr");
  CHECK(from_text(R"({"train": {"recompute": true}})").train.recompute);
  has(refused(R"({"tokenizer": {"pretokenizer": "gpt3"}})"), "gpt2");
  CHECK(from_text(R"({"tokenizer": {"pretokenizer": "gpt4"}})").tokenizer.pretokenizer == "gpt4");
  has(refused(R"({"tokenizer": {"type": "file"}})"), "tokenizer.path");
  has(refused(R"({"tokenizer": {"path": "t.json"}})"), "tokenizer.type");
  has(refused(R"({"data": {"val_fraction": 0.1, "val_paths": ["v.txt"]}})"), "val_paths");
}

TEST_CASE("the format mark is accepted, a newer one refused with both versions") {
  CHECK(from_text(R"({"format": "llmtool-1"})").train.steps == 600);
  const std::string newer = refused(R"({"format": "llmtool-2"})");
  has(newer, "llmtool-1");
  has(newer, "llmtool-2");
  has(refused(R"({"format": 1})"), "format");
  has(error_of([] { parse_train_config(R"({"format": "llmtool-9"})", "x/config.json"); }, ErrorKind::world),
      "x/config.json");
  has(error_of([] { parse_train_config(R"({"model": {"n_embd": 65}})", "x/config.json"); }, ErrorKind::world),
      "x/config.json");
}

TEST_CASE("a resolved configuration has no open ends and reads back as itself") {
  const TrainConfig c =
      load_train_config("", {"model.mlp=swiglu", "train.max_lr=0.1", "train.seed=18446744073709551615"});
  const std::string text = resolved_json(c);
  const TrainConfig back = parse_train_config(text, "config.json");
  CHECK(resolved_json(back) == text);
  CHECK(back.model.n_kv_head == 4);
  CHECK(back.model.mlp_hidden == c.model.hidden());
  CHECK(back.model.hidden() == 176);
  CHECK(back.train.min_lr == c.train.final_lr());
  CHECK(back.train.seed == c.train.seed);
  CHECK(back.tokenizer.type == "char");
  CHECK(resolved(load_train_config("", {"data.paths=a.txt"})).tokenizer.type == "bpe");
  CHECK(from_text(text).train.max_lr == 0.1);
}

TEST_CASE("the worked configurations are valid and are what they say") {
  const Path dir = Path(LLMTOOL_SOURCE_DIR) / "configs";
  const auto load = [&](const char* name) { return load_train_config((dir / name).native(), {}); };
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const TrainConfig c = load(entry.path().filename().c_str());
    CHECK(c.data.paths.empty());
    ++count;
  }
  CHECK(count == 6);
  const TrainConfig tinygpt = load("tinygpt.json");
  CHECK(GPT(tinygpt.model, 128).parameter_count() == 840448);
  CHECK(tinygpt.train.decay == "all");
  CHECK(tinygpt.train.seed == 0);
  const TrainConfig nano = load("nanogpt_cpu.json");
  const TrainConfig ours = load("shakespeare_char_cpu.json");
  CHECK(nano.model.positions == "learned");
  CHECK(ours.model.positions == "rope");
  CHECK(nano.model.n_embd == ours.model.n_embd);
  CHECK(resolved_json(TrainConfig{{}, {}, nano.data, nano.train, "auto"}) ==
        resolved_json(TrainConfig{{}, {}, ours.data, ours.train, "auto"}));
  CHECK(GPT(load("demo.json").model, 35).parameter_count() == 102336);
  const TrainConfig gpt2 = load("gpt2_124m.json");
  CHECK(GPT(gpt2.model, gpt2.tokenizer.vocab_size).parameter_count() == 124439808);
}

TEST_CASE("help names every option") {
  const std::string help = config_help();
  for (const char* name :
       {"model.n_embd", "tokenizer.vocab_size", "data.sampling", "train.max_bad_steps", "device"})
    has(help, name);
}
