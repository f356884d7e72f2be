// `--device vulkan` and `--device auto` as a user meets them: the CPU's losses and words, checkpoints that go
// from one device to the other, the same bytes twice, and errors that say what to do. Passed over where no
// Vulkan device is listed, unless LLMTOOL_TEST_NEED_VULKAN is set. Not here: single steps (tests/gpu).
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cli/runs.h"
#include "cli/tool.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

namespace {

const std::string common =
    "train --quiet --set train.steps=12 --set train.eval_every=1 --set train.warmup_steps=3 "
    "--set train.batch_size=2 --set model.n_layer=2 --set model.n_embd=32 --set model.block_size=16 "
    "--set train.sample_prompt=\"The\" ";
const std::string llama =
    "--set model.norm=rmsnorm --set model.mlp=swiglu --set model.n_head=4 --set model.n_kv_head=2 "
    "--set model.tie_embeddings=false ";
const std::string gpt2 =
    "--set model.positions=learned --set model.dropout=0.1 --set train.grad_accum_steps=2 ";

std::string listing() {
  static const std::string text = tool({}, words("devices --json")).out;
  return text;
}

/// Whether there is a Vulkan device; says so where there is none.
bool has_vulkan() {
  if (has(listing(), R"("name":"vulkan:)")) return true;
  if (std::getenv("LLMTOOL_TEST_NEED_VULKAN") != nullptr) FAIL(listing());
  WARN("passed over: no Vulkan device: " << listing());
  return false;
}

Result run(const Call& call, const std::string& line) {
  Result r = tool(call, words(line));
  INFO(line << "\n" << r.out << r.err);
  CHECK(r.code == 0);
  return r;
}

void check_losses(const fs::path& got, const fs::path& wanted) {
  const std::vector<double> a = losses_of(got), b = losses_of(wanted);
  REQUIRE(a.size() == b.size());
  REQUIRE(a.size() == 12);
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("step " << i + 1);
    CHECK(std::abs(a[i] - b[i]) <= 1e-3 * b[i]);
  }
  CHECK(b.back() < b.front());
}

/// Lines on stderr, which a user reads.
std::size_t error_lines(const Result& r) { return lines_of(r.err).size(); }

}  // namespace

TEST_CASE("training on the Vulkan device gives the CPU's losses, checkpoints and words") {
  if (!has_vulkan()) return;
  for (const std::string& variant : {std::string(), llama, gpt2}) {
    INFO("variant: " << variant);
    const TempDir dir;
    const Call call{dir.path(), {}, {}, {}};
    run(call, common + variant + "--device cpu --out cpu");
    run(call, common + variant + "--device vulkan --out gpu");
    check_losses(dir.path() / "gpu", dir.path() / "cpu");

    // Stopped on one device, gone on with on the other.
    run(call, common + variant + "--device cpu --out from_cpu --stop-after 5");
    run(call, "train --resume --quiet --device vulkan --out from_cpu");
    check_losses(dir.path() / "from_cpu", dir.path() / "cpu");
    run(call, common + variant + "--device vulkan --out parts --stop-after 5");
    fs::copy(dir.path() / "parts", dir.path() / "from_gpu", fs::copy_options::recursive);
    run(call, "train --resume --quiet --device cpu --out from_gpu");
    check_losses(dir.path() / "from_gpu", dir.path() / "cpu");

    // The same run twice, whether stopped in between or not.
    run(call, "train --resume --quiet --out parts");
    same_run(dir.path() / "gpu", dir.path() / "parts", "step-00000012");

    // Greedy, with the cache and without.
    const std::string greedy =
        "generate --model gpu --temperature 0 --max-new-tokens 40 --prompt The --quiet ";
    const std::string text = run(call, greedy + "--device cpu").out;
    CHECK(text.size() >= 40);
    CHECK(run(call, greedy + "--device vulkan").out == text);
    CHECK(run(call, greedy + "--device vulkan --no-kv-cache").out == text);
  }
}

TEST_CASE("the counters of a run on the Vulkan device") {
  if (!has_vulkan()) return;
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const Result r = run(
      call, common + gpt2 + "--json --set data.val_fraction=0.2 --set train.eval_every=4 --device vulkan");
  const std::string counters = line_with(r.out, R"("event":"counters")");
  INFO(r.out);
  CHECK(number_after(counters, R"("submits_per_step":)") == 1);
  CHECK(number_after(counters, R"("max_waits_per_step":)") <= 1);
  CHECK(has(counters, R"("waited_for_own_step":false)"));
  CHECK(number_after(counters, R"("bytes_fetched_per_step":)") == 16);
  CHECK(number_after(counters, R"("new_blocks_after_first":)") == 0);
}

TEST_CASE("a Vulkan device that is not there is an error by name, and a reason under auto") {
  const TempDir dir;
  const Call without{dir.path(), {"VK_ICD_FILENAMES=/nonexistent", "VK_DRIVER_FILES=/nonexistent"}, {}, {}};
  const std::string one =
      "train --set train.steps=1 --set model.n_layer=1 --set model.n_embd=16 --overwrite ";
  for (const char* name : {"vulkan", "vulkan:0", "vulkan:7"}) {
    const Result r = tool(without, words(one + "--device " + name));
    INFO(name << "\n" << r.err);
    CHECK(r.code == 1);
    CHECK(line_with(r.err, "llmtool: error: ") == lines_of(r.err).front());
    CHECK(error_lines(r) <= 2);
    CHECK((has(r.err, "Vulkan") || has(r.err, "vulkan")));
    CHECK(r.out.empty());
    CHECK_FALSE(fs::exists(dir.path() / "runs"));
  }
  const Result r = tool(without, words(one + "--device auto"));
  INFO(r.err);
  CHECK(r.code == 0);
  const std::string device = line_with(r.err, "device: ");
  CHECK(has(device, "device: cpu ("));
  CHECK(has(device, "since "));
  if (!has_vulkan()) return;
  const Result missing = tool({dir.path(), {}, {}, {}}, words(one + "--device vulkan:77"));
  INFO(missing.err);
  CHECK(missing.code == 1);
  CHECK(has(lines_of(missing.err).front(), "llmtool: error: [vulkan] there is no device vulkan:77"));
}

TEST_CASE("auto never takes a software driver, and says so in one line") {
  if (!has_vulkan()) return;
  const std::string cpu = listing().substr(0, listing().find(R"("name":"vulkan:)"));
  if (!has(cpu, R"("auto":true)")) {
    WARN("passed over: there is a real GPU");
    return;
  }
  const TempDir dir;
  const Result r = tool({dir.path(), {}, {}, {}},
                        words("train --set train.steps=1 --set model.n_layer=1 --set model.n_embd=16"));
  INFO(r.err);
  CHECK(r.code == 0);
  CHECK(has(line_with(r.err, "device: "), "device: cpu ("));
  CHECK(has(line_with(r.err, "device: "), "software driver"));
}

TEST_CASE("a Vulkan device lost in the middle of a run: exit 1, the command that resumes, and it does") {
  if (!has_vulkan()) return;
  const TempDir dir;
  const std::string line = common + gpt2 + "--set train.save_every=4 --device vulkan ";
  const Call call{dir.path(), {}, {}, {}};
  run(call, line + "--out whole");
  // The same once more, losing the device later and later: never a hang, never a folder that cannot go on.
  for (const char* after : {"1", "6", "160"}) {
    INFO("lost at submission " << after);
    const Call losing{dir.path(), {std::string("LLMTOOL_VK_LOSE_AFTER=") + after}, {}, {}};
    const Result r = tool(losing, words(line + "--overwrite --out parts"));
    INFO(r.out << r.err);
    CHECK(r.code == 1);
    CHECK(has(lines_of(r.err).front(), "llmtool: error: [vulkan] "));
    CHECK(has(r.err, "VK_ERROR_DEVICE_LOST"));
    const bool saved = fs::exists(dir.path() / "parts/latest");
    if (saved) CHECK(has(r.err, "go on with llmtool train --resume --out parts"));
    if (!saved && !r.out.empty()) CHECK(has(r.err, "nothing was saved yet"));
  }
  REQUIRE(fs::exists(dir.path() / "parts/latest"));
  CHECK(file_text(dir.path() / "parts/latest") != "step-00000012\n");
  run(call, "train --resume --quiet --out parts");
  same_run(dir.path() / "whole", dir.path() / "parts", "step-00000012");
}

TEST_CASE("a run that needs more than the Vulkan device has is refused before its first step") {
  if (!has_vulkan()) return;
  const TempDir dir;
  const Call call{dir.path(), {"LLMTOOL_VK_MAX_MEMORY=100000"}, {}, {}};
  const Result r = tool(call, words(common + "--device vulkan --out r"));
  INFO(r.err);
  CHECK(r.code == 1);
  CHECK(has(r.err, "this run needs "));
  CHECK(has(r.err, "but there is 97.7 KiB"));
  CHECK(has(r.err, "model.n_embd"));
  CHECK(r.out.empty());
  CHECK_FALSE(fs::exists(dir.path() / "r"));
}

TEST_CASE(
    "a run that is just too large is refused before its first step, and one that just fits goes through") {
  if (!has_vulkan()) return;
  const TempDir dir;
  // 512 tokens: weight gradients and norms are summed in parts, which take scratch memory.
  const std::string line =
      "train --set train.batch_size=32 --set model.n_layer=1 --set model.n_embd=32 --set model.block_size=16 "
      "--set train.steps=3 --set train.eval_every=1 --set data.val_fraction=0.2 --quiet --device ";
  const auto with = [&](std::uint64_t budget, const std::string& more) {
    return tool({dir.path(), {"LLMTOOL_VK_MAX_MEMORY=" + std::to_string(budget)}, {}, {}},
                words(line + "vulkan " + more));
  };
  const Result plan = with(1u << 30, "--dry-run --json");
  INFO(plan.out << plan.err);
  REQUIRE(plan.code == 0);
  const auto need = static_cast<std::uint64_t>(number_after(plan.out, R"("total":)"));
  const std::string cpu = tool({dir.path(), {}, {}, {}}, words(line + "cpu --dry-run --json")).out;
  CHECK(static_cast<double>(need) > number_after(cpu, R"("total":)"));

  std::uint64_t refused = need - 1, fits = 2 * need;
  while (fits - refused > 4096) {
    const std::uint64_t middle = (refused + fits) / 2;
    const std::string json = with(middle, "--dry-run --json").out;
    REQUIRE((has(json, R"("fits":true)") || has(json, R"("fits":false)")));
    (has(json, R"("fits":true)") ? fits : refused) = middle;
  }
  INFO("needs " << need << ", refused with " << refused << ", fits " << fits);
  for (const std::uint64_t budget : {need - 1, refused}) {
    const Result r = with(budget, "--out small");
    CHECK(r.code == 1);
    CHECK(has(r.err, "llmtool: error: this run needs "));
    CHECK(r.out.empty());
    CHECK_FALSE(fs::exists(dir.path() / "small"));
  }
  const Result r = with(fits, "--out fits");
  INFO(r.err);
  CHECK(r.code == 0);
  CHECK(losses_of(dir.path() / "fits").size() == 3);
}

TEST_CASE("a dry run says whether the device is there and the run fits it") {
  const TempDir dir;
  if (has_vulkan()) {
    const Result fits = run({dir.path(), {}, {}, {}}, "train --dry-run --device vulkan:0");
    CHECK(has(line_with(fits.out, "device "), "vulkan:0, "));
    CHECK(has(fits.out, "available: the run fits"));
    const Result large =
        run({dir.path(), {"LLMTOOL_VK_MAX_MEMORY=100000"}, {}, {}}, "train --dry-run --device vulkan:0");
    CHECK(has(line_with(large.out, "device "), "97.7 KiB available: the run does NOT fit"));
  }
  const Result missing = tool({dir.path(), {}, {}, {}}, words("train --dry-run --device vulkan:77"));
  INFO(missing.err);
  CHECK(missing.code == 1);
  CHECK(missing.out.empty());
  CHECK(has(lines_of(missing.err).front(), "vulkan:77"));
}

TEST_CASE("a wrong value of an environment variable of the device is a wrong request") {
  const TempDir dir;
  const std::string one = "train --set train.steps=1 --set model.n_layer=1 --set model.n_embd=16 --device ";
  const std::pair<const char*, const char*> wrong[] = {{"LLMTOOL_VK_MAX_MEMORY", "much"},
                                                       {"LLMTOOL_VK_MAX_SHARED", "1"},
                                                       {"LLMTOOL_VK_VALIDATE", "2"},
                                                       {"LLMTOOL_VK_SUBMIT_MS", "-5"},
                                                       {"LLMTOOL_VK_MAX_RANGE", "1e6"}};
  for (const auto& [name, value] : wrong) {
    const std::string setting = std::string(name) + "=" + value;
    for (const std::string& line : {one + "vulkan", one + "auto", std::string("devices")}) {
      // With and without a driver.
      for (const char* driver : {"LLMTOOL_UNUSED=1", "VK_ICD_FILENAMES=/nonexistent"}) {
        const Result r = tool({dir.path(), {setting, driver}, {}, {}}, words(line));
        INFO(setting << " " << driver << " " << line << "\n" << r.err);
        if (has(r.err, "this build has no Vulkan")) return;
        CHECK(r.code == 2);
        REQUIRE(lines_of(r.err).size() == 1);
        CHECK(has(r.err, std::string("environment variable ") + name + "='" + value +
                             "' is not a whole number from "));
        CHECK(r.out.empty());
      }
    }
    CHECK(tool({dir.path(), {setting}, {}, {}}, words(one + "cpu --out cpu --overwrite --quiet")).code == 0);
  }
}

TEST_CASE("a driver's file that cannot be read is named as the likely cause") {
  if (!has_vulkan()) return;
  const TempDir dir;
  write_text(dir.path() / "broken.json", "{ \"file_format_version\": \"1.0.0\", \"ICD\": {");
  const std::string file = (dir.path() / "broken.json").string();
  const Call call{dir.path(), {"VK_ICD_FILENAMES=" + file, "VK_DRIVER_FILES=" + file}, {}, {}};
  const Result r = tool(call, words("train --device vulkan"));
  INFO(r.err);
  CHECK(r.code == 1);
  CHECK(has(r.err, "Vulkan"));
  // Loaders differ in what they say: no driver, or no instance.
  if (!has(r.err, "no Vulkan driver is installed")) {
    CHECK(has(lines_of(r.err).front(), "the Vulkan loader could not make an instance ("));
    CHECK(has(lines_of(r.err).front(), "a driver or its JSON file is broken or missing"));
    CHECK(has(lines_of(r.err).front(), "VK_LOADER_DEBUG=error"));
  }
}
