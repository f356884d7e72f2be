// The options' names and defaults are a contract with configuration files.
#include "text/text_config.h"

#include <map>
#include <string>

#include "support/catch.h"

using namespace llmtool;

namespace {

struct Names {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> choices;
  template <class T>
  void operator()(const char* name, T&, const Choices& c, const char*) {
    names.emplace_back(name);
    choices[name] = c.names;
  }
  template <class T, class C>
  void operator()(const char* name, T&, const C&, const char*) {
    names.emplace_back(name);
  }
};

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("tokenizer options") {
  TokenizerConfig config;
  Names v;
  config.visit(v);
  CHECK(v.names == Strings{"type", "vocab_size", "pretokenizer", "path"});
  CHECK(v.choices["type"] == Strings{"auto", "char", "bpe", "ascii", "bytes", "file"});
  CHECK(v.choices["pretokenizer"] == Strings{"none", "gpt2", "gpt4"});
  CHECK(config.type == "auto");
  CHECK(config.vocab_size == 1024);
  CHECK(config.pretokenizer == "none");
  CHECK_FALSE(config.path.has_value());
}

TEST_CASE("data options") {
  DataConfig config;
  Names v;
  config.visit(v);
  CHECK(v.names == Strings{"paths", "val_fraction", "val_paths", "sampling"});
  CHECK(v.choices["sampling"] == Strings{"random", "epoch", "sequential"});
  CHECK(config.val_fraction == 0.0);
  CHECK(config.sampling == "random");
}
