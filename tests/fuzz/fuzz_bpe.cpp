// Training on a few bytes: what the merges were learned from comes back, and is merged as far as they go.
// Texts are short, since every run learns a vocabulary; encoding at length is in fuzz_encode.
#include "base/error.h"
#include "bytes.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"

using namespace llmtool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t longest = 512;
  Bytes bytes(data, size);
  constexpr const char* splits[] = {"none", "gpt2", "gpt4", "gpt4_2023"};
  BpeTrainOptions options;
  options.pretokenizer = splits[bytes.next() % 4];
  options.vocab_size = 256 + bytes.next() % 32;
  options.min_frequency = 1 + bytes.next() % 3;
  const std::string_view text = bytes.rest().substr(0, longest);
  if (text.empty()) return 0;
  const BpeModel model = train_bpe(text, options);
  const BpeTokenizer tokenizer(model);
  const auto ids = tokenizer.encode(text);
  require(tokenizer.decode(ids) == text);
  // No pair is left that a merge was learned for.
  for (std::size_t i = 1; i < ids.size(); ++i)
    if (options.pretokenizer == "none")
      for (const auto& [left, right] : model.merges) require(ids[i - 1] != left || ids[i] != right);
  return 0;
}
