// What comes from outside: Ctrl-C, SIGTERM, a kill, a closed pipe, a full device.
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

namespace {

const std::string endless =
    "train --set model.n_layer=1 --set model.n_head=2 --set model.n_embd=16 --set model.block_size=16 "
    "--set train.batch_size=4 --set train.eval_every=5 --set data.val_fraction=0.2 --set "
    "train.steps=1000000 ";

/// Returns once the run has logged step 10.
void wait_for_steps(const Process& process) {
  for (int i = 0; i < 3000; ++i) {
    if (has(process.out_so_far(), "step    10 ")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL("the run does not get to step 10");
}

std::string latest(const fs::path& run) {
  const std::string name = file_text(run / "latest");
  return name.empty() ? name : name.substr(0, name.size() - 1);
}

/// sh -c with the executable as $T; its exit code.
int shell(const fs::path& dir, const std::string& script) {
  ::setenv("T", LLMTOOL_BINARY, 1);
  const int status = std::system(("cd '" + dir.native() + "' && " + script).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("Ctrl-C and SIGTERM leave a checkpoint from which the run goes on bit for bit") {
  for (const int number : {SIGINT, SIGTERM}) {
    const TempDir dir;
    const Call call{dir.path(), {}, {}, {}};
    Process process(call, words(endless + "--out r"));
    wait_for_steps(process);
    process.signal(number);
    const Result r = process.wait();
    INFO(r.err);
    CHECK(r.code == 130);
    CHECK(has(r.err, "stopped after step "));
    CHECK(has(r.err, "--resume"));
    CHECK_FALSE(has(r.out, "final"));
    const std::string name = latest(dir.path() / "r");
    REQUIRE(!name.empty());
    const std::string step = std::to_string(std::stol(name.substr(5)) + 3);
    const Result resumed = tool(call, words("train --resume --out r --stop-after " + step));
    INFO(resumed.err);
    CHECK(resumed.code == 0);
    const Result whole = tool(call, words(endless + "--out whole --stop-after " + step));
    CHECK(whole.code == 0);
    const std::string end = latest(dir.path() / "r");
    CHECK(end == latest(dir.path() / "whole"));
    for (const char* file : {"model.safetensors", "optimizer.safetensors"})
      CHECK((file_text(dir.path() / "r/checkpoints" / end / file) ==
             file_text(dir.path() / "whole/checkpoints" / end / file)));
    CHECK(lines_of(file_text(dir.path() / "r/metrics.jsonl")).size() ==
          lines_of(file_text(dir.path() / "whole/metrics.jsonl")).size());
  }
}

TEST_CASE("a killed run goes on from its last checkpoint, or says what to do") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  {
    Process process(call, words(endless + "--set train.save_every=4 --out r"));
    wait_for_steps(process);
    process.signal(SIGKILL);
    CHECK(process.wait().code == 128 + SIGKILL);
  }
  const long step = std::stol(latest(dir.path() / "r").substr(5));
  const Result resumed = tool(call, words("train --resume --out r --stop-after " + std::to_string(step + 2)));
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(tool(call, words("generate --model r --seed 1 --prompt The")).code == 0);

  // A folder in which nothing was saved yet.
  fs::create_directories(dir.path() / "early/checkpoints");
  fs::copy_file(dir.path() / "r/config.json", dir.path() / "early/config.json");
  const Result early = tool(call, words("train --resume --out early"));
  CHECK(early.code == 1);
  CHECK(has(early.err, "--overwrite"));
}

TEST_CASE("a closed pipe ends quietly, a full device is an error") {
  const TempDir dir;
  CHECK(shell(dir.path(), "{ $T train --config-keys; echo $? > code; } 2> err | head -1 > out") == 0);
  CHECK(file_text(dir.path() / "code") == "0\n");
  CHECK(file_text(dir.path() / "err").empty());
  CHECK(lines_of(file_text(dir.path() / "out")).size() == 1);
  CHECK(shell(dir.path(), "{ $T demo xor; echo $? > code; } 2> err | true") == 0);
  CHECK(file_text(dir.path() / "code") == "0\n");
  if (fs::exists("/dev/full")) {
    for (const char* command : {"tokenize encode hello", "--help", "--version", "demo bpe --quiet"}) {
      const Result r = tool({dir.path(), {}, {}, "/dev/full"}, words(command));
      INFO(command << "\n" << r.err);
      CHECK(r.code == 1);
      CHECK(lines_of(r.err).front().rfind("llmtool: error: stdout", 0) == 0);
    }
  }
}
