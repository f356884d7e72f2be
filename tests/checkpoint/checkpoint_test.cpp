// Checkpoints: what is written comes back, pointers and rotation, crashes, damage, and what is refused.
#include "checkpoint/checkpoint.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/file_format.h"
#include "checkpoint/model_dir.h"
#include "cpu/cpu_device.h"
#include "device/counting_device.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"

using namespace llmtool;
namespace fs = std::filesystem;

namespace {

TrainConfig small_config() {
  return load_train_config("", {"model.n_layer=1", "model.n_head=2", "model.n_embd=8", "model.block_size=8",
                                "tokenizer.type=char"});
}

/// A small model under training, with weights and moments that follow from `seed`.
struct Fixture {
  explicit Fixture(std::uint64_t seed = 1, DecayRule rule = DecayRule::matrices)
      : device(make_cpu_device(1)),
        config(small_config()),
        tokenizer(char_vocabulary_of("abc\n")),
        model(config.model, 4) {
    model.materialise(*device, true, rule);
    model.initialise(seed);
    model.slabs().make_moments(true, true);
    const auto parameters = model.named_parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      for (const int which : {1, 2}) {
        Tensor moment = model.slabs().moment(i, which);
        std::vector<float> values(static_cast<std::size_t>(moment.numel()));
        for (std::size_t k = 0; k < values.size(); ++k)
          values[k] = static_cast<float>(seed * 1000 + i * 10 + k) / static_cast<float>(which);
        moment.assign(std::span<const float>(values));
      }
    }
  }

  std::vector<float> everything() {
    std::vector<float> all;
    const auto parameters = model.named_parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      for (const Tensor& t :
           {parameters[i].parameter->tensor, model.slabs().moment(i, 1), model.slabs().moment(i, 2)}) {
        const auto values = t.to_host();
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  }

  void save(RunDirectory& run, std::uint64_t step, bool best = false, std::optional<double> loss = 1.5) {
    TrainerState state;
    state.step = step;
    state.best_val_loss = loss;
    run.save(model, tokenizer, config, state, best);
  }

  std::unique_ptr<Device> device;
  TrainConfig config;
  CharTokenizer tokenizer;
  GPT model;
};

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "(none)";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void overwrite_at(const Path& file, std::streamoff from_end, char value) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-from_end, std::ios::end);
  stream.put(value);
}

}  // namespace

TEST_CASE("weights, moments and state come back exactly, into slabs of another geometry too") {
  const TempDir dir;
  RunDirectory run(dir.path() / "run");
  CHECK_FALSE(run.has_run());
  const DirectoryLock lock = run.create();
  Fixture a(1);
  TrainerState state{.step = 600,
                     .skipped_steps = 2,
                     .bad_steps_in_a_row = 1,
                     .best_val_loss = 0.1 + 0.2,
                     .best_step = 500,
                     .evaluations_without_improvement = 3,
                     .tokenizer_fingerprint = 0,
                     .data_fingerprint = ~std::uint64_t{0}};
  run.save(a.model, a.tokenizer, a.config, state, true);
  CHECK(run.has_run());
  CHECK(run.checkpoint_path(600) == dir.path() / "run/checkpoints/step-00000600");

  Fixture b(2, DecayRule::all);
  REQUIRE(b.everything() != a.everything());
  const TrainerState back = load_checkpoint(run.checkpoint_path(600), b.model);
  CHECK(b.everything() == a.everything());
  CHECK(back.step == 600);
  CHECK(back.skipped_steps == 2);
  CHECK(back.bad_steps_in_a_row == 1);
  CHECK(back.best_val_loss == 0.1 + 0.2);
  CHECK(back.best_step == 500);
  CHECK(back.evaluations_without_improvement == 3);
  CHECK(back.tokenizer_fingerprint == a.tokenizer.fingerprint());
  CHECK(back.data_fingerprint == ~std::uint64_t{0});
  CHECK(read_file(run.root() / "latest") == "step-00000600\n");
  CHECK(read_file(run.root() / "best") == "step-00000600\n");
}

TEST_CASE("the same run writes the same bytes, and the same step again replaces itself") {
  const TempDir dir;
  RunDirectory one(dir.path() / "one"), two(dir.path() / "two");
  Fixture a(3), b(3);
  a.save(one, 5);
  b.save(two, 5);
  b.save(two, 5);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(one.checkpoint_path(5))) {
    CHECK(read_file(entry.path()) == read_file(two.checkpoint_path(5) / entry.path().filename()));
    ++files;
  }
  CHECK(files == 5);
  CHECK(std::distance(fs::directory_iterator(two.root() / "checkpoints"), fs::directory_iterator()) == 1);
}

TEST_CASE("the newest are kept and the best besides") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  f.config.train.keep_checkpoints = 2;
  for (const std::uint64_t step : {10, 20, 30, 40}) f.save(run, step, step == 10);
  CHECK(fs::exists(run.checkpoint_path(10)));
  CHECK_FALSE(fs::exists(run.checkpoint_path(20)));
  CHECK(fs::exists(run.checkpoint_path(30)));
  CHECK(fs::exists(run.checkpoint_path(40)));
  CHECK(resolve_model_dir(run.root()) == run.checkpoint_path(10));
  CHECK(run.latest_good() == run.checkpoint_path(40));
  f.save(run, 50, false, std::nullopt);  // without validation the latest is the best
  CHECK(read_file(run.root() / "best") == "step-00000050\n");
  CHECK_FALSE(fs::exists(run.checkpoint_path(10)));
}

TEST_CASE("what a crash left is no checkpoint and is cleared away") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  f.save(run, 10);
  const Path leftover = run.root() / "checkpoints/.tmp-123-step-00000020";
  fs::copy(run.checkpoint_path(10), leftover);
  CHECK(run.latest_good() == run.checkpoint_path(10));
  const DirectoryLock lock = run.create();
  CHECK_FALSE(fs::exists(leftover));
  CHECK(fs::exists(run.checkpoint_path(10)));
  // A crash between the rename and the pointers.
  fs::remove(run.root() / "latest");
  fs::remove(run.root() / "best");
  CHECK(run.latest_good() == run.checkpoint_path(10));
  CHECK(resolve_model_dir(run.root()) == run.checkpoint_path(10));
}

TEST_CASE("damaged checkpoints are passed over") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  for (const std::uint64_t step : {10, 20, 30}) f.save(run, step);
  overwrite_at(run.checkpoint_path(30) / "model.safetensors", 1, 77);  // one byte of a weight
  CHECK(run.latest_good() == run.checkpoint_path(20));
  fs::resize_file(run.checkpoint_path(20) / "optimizer.safetensors", 100);
  CHECK(run.latest_good() == run.checkpoint_path(10));
  fs::remove(run.checkpoint_path(10) / "trainer_state.json");
  CHECK(run.latest_good() == std::nullopt);
  CHECK(contains(message_of([&] { load_checkpoint(run.checkpoint_path(30), f.model); }), "checksum"));
}

TEST_CASE("a pointer that names something else is not followed") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  f.save(run, 10);
  write_file_atomic(run.root() / "best", "../../elsewhere\n");
  CHECK(resolve_model_dir(run.root()) == run.checkpoint_path(10));
}

TEST_CASE("a checkpoint that cannot be written leaves the one before and nothing half done") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  f.save(run, 10);
  // Files that may not grow stand for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 4000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string message = message_of([&] { f.save(run, 20); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(contains(message, "cannot write"));
  CHECK(run.latest_good() == run.checkpoint_path(10));
  CHECK(std::distance(fs::directory_iterator(run.root() / "checkpoints"), fs::directory_iterator()) == 1);
  f.save(run, 20);
  CHECK(run.latest_good() == run.checkpoint_path(20));
}

TEST_CASE("a model directory is opened, checked and loaded for inference") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  f.save(run, 10);
  const ModelFiles files = open_model(run.root());
  CHECK(files.dir == run.checkpoint_path(10));
  CHECK(files.tokenizer->fingerprint() == f.tokenizer.fingerprint());
  const auto model = load_model(files, *f.device);
  CHECK_FALSE(model->training());
  const StateDict expected = f.model.state_dict(), loaded = model->state_dict();
  REQUIRE(loaded.size() == expected.size());
  for (const auto& [name, tensor] : expected) CHECK(loaded.at(name).values == tensor.values);
  CHECK_FALSE(expected.contains("head.weight"));  // tied: stored once
}

TEST_CASE("files that do not belong together are told apart") {
  const TempDir dir;
  RunDirectory run(dir.path());
  Fixture f;
  f.save(run, 10);
  const Path checkpoint = run.checkpoint_path(10);
  const std::string config = read_file(checkpoint / "config.json");
  const std::string tokenizer = read_file(checkpoint / "tokenizer.json");

  TrainConfig larger = f.config;
  larger.model.n_layer = 1000;
  larger.model.n_embd = 65536;
  write_file_atomic(checkpoint / "config.json", resolved_json(larger));
  const std::string shapes = message_of([&] { open_model(checkpoint); });
  CHECK(contains(shapes, "missing: blocks.1."));
  CHECK(contains(shapes, "wrong shape: wte.weight (4,8) instead of (4,65536)"));
  write_file_atomic(checkpoint / "config.json", config.substr(0, config.size() / 2));
  CHECK(contains(message_of([&] { open_model(checkpoint); }), "config.json"));
  std::string newer = config;
  newer.replace(newer.find("llmtool-1"), 9, "llmtool-3");
  write_file_atomic(checkpoint / "config.json", newer);
  const std::string versions = message_of([&] { open_model(checkpoint); });
  CHECK(contains(versions, "llmtool-1"));
  CHECK(contains(versions, "llmtool-3"));
  write_file_atomic(checkpoint / "config.json", config);

  std::string other = tokenizer;
  other.replace(other.find("\"a\""), 3, "\"z\"");
  write_file_atomic(checkpoint / "tokenizer.json", other);
  CHECK(contains(message_of([&] { load_checkpoint(checkpoint, f.model); }), "tokenizer"));
  fs::remove(checkpoint / "tokenizer.json");
  CHECK(contains(message_of([&] { open_model(checkpoint); }), "tokenizer.json"));
}

TEST_CASE("where nothing is there the error says how to get a model") {
  const TempDir dir;
  for (const Path& path : {dir.path(), dir.path() / "missing"}) {
    try {
      resolve_model_dir(path);
      FAIL("found a model");
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::world);
      CHECK(contains(e.hint(), "llmtool train"));
    }
  }
}

TEST_CASE("a model too large for the device is refused before anything is allocated") {
  TrainConfig config = load_train_config(
      "", {"model.n_layer=1000", "model.n_embd=65536", "model.n_head=64", "model.mlp_hidden=1048576"});
  GPT model(config.model, 1000);
  DeviceCaps caps;
  caps.memory_bytes = std::uint64_t{8} << 30;
  CountingDevice device(caps);
  const std::string message = message_of([&] { require_memory(model, device, true); });
  CHECK(contains(message, "8.0 GiB"));
  CHECK(contains(message, "parameters"));
  CHECK(device.stats().blocks == 0);
  GPT small(small_config().model, 4);
  require_memory(small, device, true);
}
