// `llmtool train --profile` and `llmtool bench`: what they print, and that profiling changes no weight.
#include <cstdlib>
#include <filesystem>

#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

TEST_CASE("a profile names every kernel with its time, and changes nothing") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const std::string small = "train --quiet --device cpu --set train.steps=3 --set model.n_layer=1 --out ";
  const Result plain = tool(call, words(small + "plain"));
  const Result table = tool(call, words(small + "table --profile"));
  const Result json = tool(call, words(small + "json --profile --json"));
  REQUIRE(plain.code == 0);
  REQUIRE(table.code == 0);
  REQUIRE(json.code == 0);
  INFO(table.out << json.out);

  CHECK_FALSE(has(plain.out, "profile"));
  CHECK(number_after(line_with(table.out, "profile | "), "limits: ") > 0);
  CHECK(has(line_with(table.out, "kernel "), "GFLOP/s"));
  for (const char* kernel : {"matmul ", "attention_backward_q ", "layer_norm ", "adamw ", "cross_entropy "})
    CHECK(has(line_with(table.out, kernel), "%"));

  const std::string profile = line_with(json.out, R"("event":"profile")");
  for (const char* key : {"seconds", "gbytes_limit", "gflops_limit"})
    CHECK(number_after(profile, std::string("\"") + key + "\":") > 0);
  const std::string adamw = profile.substr(profile.find(R"("kernel":"adamw")"));
  CHECK(number_after(adamw, R"("launches":)") == 3);  // one a step
  CHECK(number_after(adamw, R"("share":)") > 0);
  CHECK(number_after(adamw, R"("share":)") < 1);
  CHECK(number_after(adamw, R"("gbytes_per_second":)") > 0);
  CHECK(number_after(adamw, R"("of_bandwidth":)") > 0);

  const std::string weights = "checkpoints/step-00000003/model.safetensors";
  const std::string expected = file_text(dir.path() / "plain" / weights);
  CHECK(!expected.empty());
  CHECK((file_text(dir.path() / "table" / weights) == expected));
  CHECK((file_text(dir.path() / "json" / weights) == expected));
}

TEST_CASE("bench holds each figure against a limit") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const Result json = tool(call, words("bench tokenize --json --device cpu --quiet"));
  INFO(json.out << json.err);
  REQUIRE(json.code == 0);
  CHECK(lines_of(json.out).size() == 2);
  for (const std::string& line : lines_of(json.out)) {
    CHECK(has(line, R"("bench":"tokenize")"));
    CHECK(has(line, R"("unit":"MB/s")"));
    const double value = number_after(line, R"("value":)"), limit = number_after(line, R"("limit":)");
    CHECK(value > 0);
    CHECK(limit > 0);
    CHECK(number_after(line, R"("fraction":)") == Approx(value / limit));
  }
  const Result train = tool(call, words("bench train --device cpu"));
  INFO(train.out << train.err);
  CHECK(train.code == 0);
  CHECK(has(line_with(train.out, "device cpu"), "measured FMA peak"));
  CHECK(has(line_with(train.out, "train "), "tokens/s"));

  const Result wrong = tool(call, words("bench genrate"));
  CHECK(wrong.code == 2);
  CHECK(has(wrong.err, "did you mean generate?"));
  CHECK(tool(call, words("bench gemm --device vulkan:99")).code == 1);
  CHECK(fs::is_empty(dir.path()));
}

TEST_CASE("profile and bench on a Vulkan device") {
  if (!has(tool({}, words("devices --json")).out, R"("name":"vulkan:0")")) {
    if (std::getenv("LLMTOOL_TEST_NEED_VULKAN") != nullptr) FAIL("no Vulkan device is listed");
    WARN("passed over: no Vulkan device is listed");
    return;
  }
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const std::string small =
      "train --quiet --device vulkan:0 --set train.steps=2 --set model.n_layer=1 --set model.n_embd=32 "
      "--set train.batch_size=2 --set model.block_size=16 --set train.sample_prompt=T --out ";
  REQUIRE(tool(call, words(small + "plain")).code == 0);
  const Result table = tool(call, words(small + "table --profile"));
  INFO(table.out << table.err);
  REQUIRE(table.code == 0);
  CHECK(has(line_with(table.out, "profile | "), "best large matmul"));
  for (const char* kernel : {"matmul ", "attention_backward_q ", "layer_norm ", "adamw ", "cross_entropy "})
    CHECK(has(line_with(table.out, kernel), "%"));
  const std::string weights = "checkpoints/step-00000002/model.safetensors";
  CHECK((file_text(dir.path() / "plain" / weights) == file_text(dir.path() / "table" / weights)));

  const Result bench = tool(call, words("bench gemm --device vulkan:0 --json --quiet"));
  INFO(bench.out << bench.err);
  REQUIRE(bench.code == 0);
  CHECK(lines_of(bench.out).size() == 13);
  for (const std::string& line : lines_of(bench.out)) {
    CHECK(number_after(line, R"("largest_difference":)") <= number_after(line, R"("allowed":)"));
    CHECK(number_after(line, R"("cpu_seconds":)") > 0);
  }
}
