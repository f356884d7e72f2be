// One small configuration, read, refused, written, set and described.
#include "formats/options_json.h"
#include "support/catch.h"
#include "thrown.h"

using namespace llmtool;

namespace {

struct Train {
  std::int64_t steps = 600;
  std::uint64_t seed = 42;
  double max_lr = 3e-3;
  std::optional<double> min_lr;
  bool recompute = false;
  std::optional<std::string> sample_prompt;
  template <class V>
  void visit(V& v) {
    v("steps", steps, Range{1, 1e9}, "optimizer updates");
    v("seed", seed, Range{}, "seed of every draw");
    v("max_lr", max_lr, Range{.min = 0, .max = 1, .above = true}, "largest learning rate");
    v("min_lr", min_lr, Range{.min = 0}, "last learning rate");
    v("recompute", recompute, Any{}, "recompute activations");
    v("sample_prompt", sample_prompt, Any{}, "prompt of samples");
  }
};

struct Config {
  Train train;
  std::string norm = "layernorm";
  std::optional<std::int64_t> heads;
  std::vector<std::string> paths;
  double dropout = 0;
  template <class V>
  void visit(V& v) {
    v("norm", norm, Choices{"layernorm", "rmsnorm"}, "normalisation");
    v("heads", heads, Range{1, 64}, "heads");
    v("paths", paths, Any{}, "files");
    v("dropout", dropout, Range{.min = 0, .max = 1, .below = true}, "dropout");
    v.section("train", train, "the loop");
  }
};

std::string refusal(const std::string& text) {
  return thrown([&] {
    Config c;
    read_options(c, parse_json(text, "c.json"), "c.json");
  });
}

std::string set_refusal(const std::string& assignment) {
  return thrown([&] {
    Config c;
    set_option(c, assignment, "--set");
  });
}

}  // namespace

TEST_CASE("explicit keys are set and reported, the others keep their values") {
  Config c;
  const auto paths = read_options(c,
                                  parse_json(R"({"norm": "rmsnorm", "heads": 4, "paths": ["a", "b"],
                     "train": {"steps": 1000.0, "max_lr": 1, "min_lr": 0, "seed": 18446744073709551615}})",
                                             "c.json"),
                                  "c.json");
  CHECK(c.norm == "rmsnorm");
  CHECK(c.heads == 4);
  CHECK(c.paths == std::vector<std::string>{"a", "b"});
  CHECK(c.train.steps == 1000);
  CHECK(c.train.max_lr == 1.0);
  CHECK(c.train.min_lr == 0.0);
  CHECK(c.train.seed == 18446744073709551615u);
  CHECK(c.dropout == 0);
  CHECK(paths == std::set<std::string>{"norm", "heads", "paths", "train.steps", "train.max_lr",
                                       "train.min_lr", "train.seed"});
  read_options(c, parse_json(R"({"heads": null, "train": {"min_lr": null}})", "c.json"), "c.json");
  CHECK_FALSE(c.heads.has_value());
  CHECK_FALSE(c.train.min_lr.has_value());
}

TEST_CASE("unknown keys suggest what was meant") {
  CHECK(refusal(R"({"max_lr": 1})") == "request: c.json: unknown key max_lr; did you mean train.max_lr?");
  CHECK(refusal(R"({"train": {"stpes": 1}})") ==
        "request: c.json: unknown key train.stpes; did you mean train.steps?");
  CHECK(refusal(R"({"train": {"norm": 1}})") ==
        "request: c.json: unknown key train.norm; did you mean norm?");
  CHECK(refusal(R"({"max_lrr": 1})") == "request: c.json: unknown key max_lrr; did you mean train.max_lr?");
  CHECK(refusal(R"({"trian": {}})") == "request: c.json: unknown key trian; did you mean train?");
  CHECK(refusal(R"({"zzzzzz": {}})") ==
        "request: c.json: unknown key zzzzzz; the keys here are norm, heads, paths, dropout, train");
  CHECK(refusal(R"({"train.steps": 5})") ==
        "request: c.json: unknown key \"train.steps\"; write steps inside the object train");
  CHECK(refusal(R"({"": 1})").find("request: c.json: unknown key ") == 0);
}

TEST_CASE("what a 32-bit number rounds to an excluded bound is refused, other neighbours are not") {
  CHECK(contains(set_refusal("dropout=0.9999999999"), "--set: dropout: 0.9999999999 is too near the bound"));
  CHECK(contains(set_refusal("dropout=0.9999999999"), "expected a number of at least 0 and below 1"));
  CHECK(contains(set_refusal("train.max_lr=1e-300"), "--set: train.max_lr: 1e-300 is too near the bound"));
  Config c;
  set_option(c, "dropout=0.9999999", "--set");
  CHECK(c.dropout == 0.9999999);
  set_option(c, "train.min_lr=1e-300", "--set");  // its bound is included
  CHECK(c.train.min_lr == 1e-300);
}

TEST_CASE("wrong types are refused") {
  CHECK(refusal("[]") == "request: c.json: expected an object, got an array");
  CHECK(refusal(R"({"train": 3})") == "request: c.json: train: expected an object, got 3");
  CHECK(refusal(R"({"norm": {}})") ==
        "request: c.json: norm: expected one of layernorm, rmsnorm, got an object");
  CHECK(refusal(R"({"train": {"steps": "12"}})") ==
        "request: c.json: train.steps: expected an integer from 1 to 1000000000, got \"12\"");
  CHECK(refusal(R"({"train": {"steps": 2.5}})") ==
        "request: c.json: train.steps: 2.5 is not an integer; expected an integer from 1 to 1000000000");
  CHECK(refusal(R"({"train": {"steps": null}})") ==
        "request: c.json: train.steps: expected an integer from 1 to 1000000000, got null");
  CHECK(refusal(R"({"train": {"steps": true}})").find("got true") != std::string::npos);
  CHECK(refusal(R"({"train": {"recompute": 1}})") ==
        "request: c.json: train.recompute: expected true or false, got 1");
  CHECK(refusal(R"({"heads": "4"})") ==
        "request: c.json: heads: expected an integer from 1 to 64, or null, got \"4\"");
  CHECK(refusal(R"({"paths": "a"})") == "request: c.json: paths: expected a list of strings, got \"a\"");
  CHECK(refusal(R"({"paths": ["a", 1]})") ==
        "request: c.json: paths: expected a list of strings, got 1 at index 1");
}

TEST_CASE("out of range says the range, a wrong choice the choices") {
  CHECK(refusal(R"({"train": {"max_lr": 5}})") ==
        "request: c.json: train.max_lr: 5 is out of range; expected a number above 0 and at most 1");
  CHECK(refusal(R"({"train": {"max_lr": 0}})").find("0 is out of range") != std::string::npos);
  CHECK(refusal(R"({"train": {"min_lr": -1e-9}})") ==
        "request: c.json: train.min_lr: -1e-09 is out of range; expected a number of at least 0, or null");
  CHECK(refusal(R"({"dropout": 1.0})") ==
        "request: c.json: dropout: 1.0 is out of range; expected a number of at least 0 and below 1");
  CHECK(refusal(R"({"heads": 65})").find("expected an integer from 1 to 64") != std::string::npos);
  CHECK(
      refusal(R"({"train": {"seed": -1}})") ==
      "request: c.json: train.seed: -1 is out of range; expected an integer from 0 to 18446744073709551615");
  CHECK(refusal(R"({"train": {"seed": 18446744073709551616}})").find("is out of range") != std::string::npos);
  CHECK(refusal(R"({"train": {"steps": 1e300}})").find("1e+300 is out of range") != std::string::npos);
  CHECK(refusal(R"({"norm": "layernrm"})") ==
        "request: c.json: norm: \"layernrm\" is not one of layernorm, rmsnorm; did you mean layernorm?");
  CHECK(refusal(R"({"norm": "x"})") == "request: c.json: norm: \"x\" is not one of layernorm, rmsnorm");
}

TEST_CASE("an error leaves the struct as it was") {
  Config c;
  CHECK_THROWS_AS(read_options(c, parse_json(R"({"heads": 4, "norm": "x"})", "f"), "f"), Error);
  CHECK_FALSE(c.heads.has_value());
  CHECK(
      contains(thrown([&] { read_options(c, parse_json("3", "f"), "f", ErrorKind::world); }), "world: f: "));
}

TEST_CASE("what is written reads back") {
  Config c;
  c.heads = 8;
  c.paths = {"a b", "\xc3\xbc"};
  c.train.min_lr = 1e-5;
  c.train.seed = 18446744073709551615u;
  c.train.sample_prompt = "The fox";
  const Json written = write_options(c);
  CHECK(to_json_line(written) ==
        "{\"norm\":\"layernorm\",\"heads\":8,\"paths\":[\"a "
        "b\",\"\xc3\xbc\"],\"dropout\":0.0,\"train\":{\"steps\":600,"
        "\"seed\":18446744073709551615,\"max_lr\":0.003,\"min_lr\":1e-05,\"recompute\":false,"
        "\"sample_prompt\":\"The fox\"}}");
  Config back;
  CHECK(read_options(back, parse_json(to_json_text(written), "f"), "f").size() == 10);
  CHECK(write_options(back) == written);
}

TEST_CASE("--set takes JSON, and bare words where text is wanted") {
  Config c;
  CHECK(set_option(c, "train.steps=200", "--set") == "train.steps");
  CHECK(c.train.steps == 200);
  set_option(c, "train.max_lr=1e-3", "--set");
  CHECK(c.train.max_lr == 1e-3);
  set_option(c, "train.recompute=true", "--set");
  CHECK(c.train.recompute);
  set_option(c, "norm=rmsnorm", "--set");
  CHECK(c.norm == "rmsnorm");
  set_option(c, "norm=\"layernorm\"", "--set");
  CHECK(c.norm == "layernorm");
  set_option(c, "train.sample_prompt=a = b", "--set");
  CHECK(c.train.sample_prompt == "a = b");
  set_option(c, "train.sample_prompt=12", "--set");
  CHECK(c.train.sample_prompt == "12");
  set_option(c, "train.sample_prompt=null", "--set");
  CHECK_FALSE(c.train.sample_prompt.has_value());
  set_option(c, "heads=8", "--set");
  set_option(c, "heads=null", "--set");
  CHECK_FALSE(c.heads.has_value());
  set_option(c, "paths=my file.txt", "--set");
  CHECK(c.paths == std::vector<std::string>{"my file.txt"});
  set_option(c, R"(paths=["a", "b"])", "--set");
  CHECK(c.paths == std::vector<std::string>{"a", "b"});
  set_option(c, "paths=", "--set");
  CHECK(c.paths.empty());
}

TEST_CASE("--set refuses what a file would not take either") {
  CHECK(set_refusal("train.steps") == "request: --set: expected KEY=VALUE, got 'train.steps'");
  CHECK(set_refusal("=5") == "request: --set: expected KEY=VALUE, got '=5'");
  CHECK(set_refusal("steps=5") == "request: --set: unknown key steps; did you mean train.steps?");
  CHECK(set_refusal("train.stepz=5") == "request: --set: unknown key train.stepz; did you mean train.steps?");
  CHECK(contains(set_refusal("train=5"), "train is a section"));
  CHECK(set_refusal("train.steps=abc") ==
        "request: --set: train.steps: expected an integer from 1 to 1000000000, got \"abc\"");
  CHECK(contains(set_refusal("train.steps=\"12\""), "expected an integer from 1 to 1000000000, got \"12\""));
  CHECK(contains(set_refusal("train.max_lr=nan"), "got \"nan\""));
  CHECK(contains(set_refusal("train.steps="), "got \"\""));
  CHECK(contains(set_refusal("paths=[1"), "malformed JSON"));
}

TEST_CASE("every option is described") {
  const auto infos = describe_options(Config{});
  REQUIRE(infos.size() == 10);
  CHECK(infos[0].path == "norm");
  CHECK(infos[0].type == "string");
  CHECK(infos[0].expected == "one of layernorm, rmsnorm");
  CHECK(infos[0].choices == std::vector<std::string>{"layernorm", "rmsnorm"});
  CHECK(infos[0].value == "layernorm");
  CHECK(infos[1].type == "integer or null");
  CHECK(infos[1].value.is_null());
  CHECK(infos[6].path == "train.max_lr");
  CHECK(infos[6].expected == "a number above 0 and at most 1");
  CHECK(infos[6].help == "largest learning rate");
}
