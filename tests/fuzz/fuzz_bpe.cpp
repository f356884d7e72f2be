// Training, encoding and decoding: any bytes come back, cutting changes no id, and the file of the vocabulary
// is read as it was written.
#include "base/error.h"
#include "bytes.h"
#include "checkpoint/tokenizer_file.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"

using namespace llmtool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  constexpr const char* splits[] = {"none", "gpt2", "gpt4", "gpt4_2023"};
  BpeTrainOptions options;
  options.pretokenizer = splits[bytes.next() % 4];
  options.vocab_size = 256 + bytes.next() % 64;
  options.min_frequency = 1 + bytes.next() % 3;
  const std::string learned = bytes.until(std::string_view("\0\0\0", 3)), text(bytes.rest());
  if (learned.empty()) return 0;
  const BpeTokenizer tokenizer(train_bpe(learned, options));
  for (const std::string& t : {learned, text}) {
    const auto ids = tokenizer.encode(t);
    require(tokenizer.decode(ids) == t);
    const std::size_t cut = tokenizer.last_cut(t);
    require(cut <= t.size());
    auto joined = tokenizer.encode(std::string_view(t).substr(0, cut));
    for (const std::int32_t id : tokenizer.encode(std::string_view(t).substr(cut))) joined.push_back(id);
    require(joined == ids);
  }
  const std::string json = tokenizer_json(tokenizer);
  const auto back = parse_tokenizer_json(json, "t");
  require(back->fingerprint() == tokenizer.fingerprint());
  require(tokenizer_json(*back) == json);
  return 0;
}
