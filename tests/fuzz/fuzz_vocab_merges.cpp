// The reader of vocab.json and merges.txt on any bytes. The vocabulary opens with the 256 bytes, which a
// fuzzer would not find; what follows them is the input's.
#include "base/error.h"
#include "bytes.h"
#include "checkpoint/byte_alphabet.h"
#include "checkpoint/tokenizer_file.h"
#include "formats/json.h"

using namespace llmtool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const bool raw = bytes.next() % 4 == 0;
  std::string vocab = bytes.until("\n\n");
  if (!raw) {
    std::string whole = "{";
    for (int b = 0; b < 256; ++b) {
      const std::string byte(1, static_cast<char>(static_cast<unsigned char>(b)));
      whole += cat(b == 0 ? "" : ",", to_json_line(Json(to_byte_alphabet(byte))), ":", b);
    }
    vocab = whole + vocab + "}";
  }
  try {
    const auto tokenizer =
        parse_gpt2_vocabulary(vocab, "vocab.json", std::string(bytes.rest()), "merges.txt");
    const std::string text(bytes.rest());
    require(tokenizer->decode(tokenizer->encode(text)) == text);
    require(parse_tokenizer_json(tokenizer_json(*tokenizer), "t")->fingerprint() == tokenizer->fingerprint());
  } catch (const Error& error) {
    require(*error.what() != '\0');
  }
  return 0;
}
