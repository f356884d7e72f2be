// Encoding and decoding with vocabularies that are learned once: any bytes come back, cutting changes no id,
// and special tokens in the text are bytes like others unless they are asked for.
#include <memory>
#include <vector>

#include "bytes.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/builtin_corpus.h"

using namespace llmtool;

namespace {

/// One for each way of splitting. The text has what a fuzzer will write much of.
std::vector<std::unique_ptr<BpeTokenizer>> learned() {
  std::string text(builtin_corpus());
  for (int i = 0; i < 8; ++i)
    text +=
        "aaaa aaa    \n\n\r\n\t 12345 it's WE'LL \xE7\x8B\x90\xE7\x8B\xB8 \xC3\xA9\xCC\x81 \xFF\xFE\xFF!?!";
  std::vector<std::unique_ptr<BpeTokenizer>> all;
  for (const char* split : {"none", "gpt2", "gpt4", "gpt4_2023"}) {
    BpeTrainOptions options;
    options.pretokenizer = split;
    options.vocab_size = 600;
    options.specials = {"<|endoftext|>", "<|", "<|end"};
    all.push_back(std::make_unique<BpeTokenizer>(train_bpe(text, options)));
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto tokenizers = learned();
  Bytes bytes(data, size);
  const BpeTokenizer& tokenizer = *tokenizers[bytes.next() % tokenizers.size()];
  const std::string_view text = bytes.rest();
  const auto ids = tokenizer.encode(text);
  require(tokenizer.decode(ids) == text);
  const std::int32_t first_special = *tokenizer.special_id("<|endoftext|>");
  for (const std::int32_t id : ids) require(id < first_special);
  require(tokenizer.decode(tokenizer.encode_with_specials(text)) == text);
  const std::size_t cut = tokenizer.last_cut(text);
  require(cut <= text.size());
  auto joined = tokenizer.encode(text.substr(0, cut));
  for (const std::int32_t id : tokenizer.encode(text.substr(cut))) joined.push_back(id);
  require(joined == ids);
  return 0;
}
