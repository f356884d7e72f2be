// The reader of tokenizer.json on any bytes, and on a good file with some bytes of it replaced, which gets
// further: an Error, or a tokenizer that is written and read as the same one.
#include "base/error.h"
#include "bytes.h"
#include "checkpoint/tokenizer_file.h"
#include "text/bpe_tokenizer.h"

using namespace llmtool;

namespace {

std::string good_file() {
  BpeModel model;
  model.merges = {{'a', 'b'}, {256, 'c'}, {' ', 256}, {0xE7, 0x8B}, {'\n', '"'}};
  model.specials = {"<|endoftext|>", "<|a\"b\\|>"};
  model.pretokenizer = "gpt4";
  return tokenizer_json(BpeTokenizer(std::move(model)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string good = good_file();
  Bytes bytes(data, size);
  std::string text;
  if (bytes.next() % 4 != 0) {
    const std::size_t at = (bytes.next() << 8 | bytes.next()) % good.size(), length = bytes.next();
    text = good;
    text.replace(at, length, bytes.rest());
  } else {
    text = bytes.rest();
  }
  try {
    const auto tokenizer = parse_tokenizer_json(text, "t.json");
    const std::string json = tokenizer_json(*tokenizer);
    const auto back = parse_tokenizer_json(json, "t.json");
    require(back->fingerprint() == tokenizer->fingerprint());
    require(tokenizer_json(*back) == json);
    if (tokenizer->type() == "bpe" || tokenizer->type() == "bytes")
      require(tokenizer->decode(tokenizer->encode(text)) == text);
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with("t.json"));
  }
  return 0;
}
