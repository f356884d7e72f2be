// The reader of tokenizer.json on any bytes: an Error, or a tokenizer that is written and read as the same
// one.
#include "base/error.h"
#include "bytes.h"
#include "checkpoint/tokenizer_file.h"

using namespace llmtool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = parse_tokenizer_json(text, "t.json");
    const std::string json = tokenizer_json(*tokenizer);
    require(parse_tokenizer_json(json, "t.json")->fingerprint() == tokenizer->fingerprint());
    if (tokenizer->type() == "bpe" || tokenizer->type() == "bytes")
      require(tokenizer->decode(tokenizer->encode(text)) == text);
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with("t.json"));
  }
  return 0;
}
