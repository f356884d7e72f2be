// The options of the tokenizer and of the data, declared once (base/options.h). Not here: what they do.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "text/tokenizer.h"

namespace llmtool {

/// "tokenizer" of a training configuration.
struct TokenizerConfig {
  std::string type = "auto";
  std::int64_t vocab_size = 1024;
  std::string pretokenizer = "none";
  std::optional<std::string> path;

  template <class V>
  void visit(V& v) {
    v("type", type, Choices{"auto", "char", "bpe", "ascii", "bytes", "file"},
      "kind of tokenizer; auto: char for the built-in corpus, bpe for other data; file: read from "
      "tokenizer.path");
    v("vocab_size", vocab_size, Range{256, static_cast<double>(max_vocab_size)},
      "tokens a bpe vocabulary is trained to, the 256 bytes included");
    v("pretokenizer", pretokenizer, Choices{"none", "gpt2", "gpt4"},
      "how text is split before bpe; none: merges may cross words");
    v("path", path, Any{}, "the tokenizer file to use, for type file");
  }
};

/// "data" of a training configuration.
struct DataConfig {
  std::vector<std::string> paths;
  double val_fraction = 0.0;
  std::vector<std::string> val_paths;
  std::string sampling = "random";

  template <class V>
  void visit(V& v) {
    v("paths", paths, Any{}, "text files or folders, joined in order; none: the built-in corpus; -: stdin");
    v("val_fraction", val_fraction, Range{.min = 0.0, .max = 1.0, .above = false, .below = true},
      "part of the tokens, at the end, held out for validation");
    v("val_paths", val_paths, Any{}, "text files or folders held out for validation, instead of a fraction");
    v("sampling", sampling, Choices{"random", "epoch", "sequential"},
      "random: uniform window starts; epoch: each window once per pass, shuffled anew; sequential: in order");
  }
};

}  // namespace llmtool
