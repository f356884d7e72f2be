// make_tokenizer(): one line per kind.
#include "text/make_tokenizer.h"

#include "base/error.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"

namespace llmtool {

std::string resolved_tokenizer_type(const TokenizerConfig& config, bool builtin_text) {
  if (config.type != "auto") return config.type;
  return builtin_text ? "char" : "bpe";
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerConfig& config, std::string_view text,
                                          bool builtin_text, ThreadPool& pool) {
  const std::string type = resolved_tokenizer_type(config, builtin_text);
  if (type == "char") return std::make_unique<CharTokenizer>(char_vocabulary_of(text));
  if (type == "ascii") return std::make_unique<AsciiTokenizer>();
  if (type == "bytes") return std::make_unique<ByteTokenizer>();
  LLMTOOL_CHECK(type == "bpe", "type ", type);
  BpeTrainOptions options;
  options.vocab_size = config.vocab_size;
  options.pretokenizer = config.pretokenizer;
  return std::make_unique<BpeTokenizer>(train_bpe(text, options, pool));
}

}  // namespace llmtool
