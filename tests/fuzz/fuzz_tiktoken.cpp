// The reader of .tiktoken ranks on any bytes, with the 256 bytes before them or without.
#include "base/error.h"
#include "bytes.h"
#include "checkpoint/tokenizer_file.h"

using namespace llmtool;

namespace {

/// The base64 of one byte.
std::string base64_of(unsigned byte) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return {digits[byte >> 2], digits[(byte & 3) << 4], '=', '='};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  std::string file;
  if (bytes.next() % 4 != 0)
    for (unsigned b = 0; b < 256; ++b) file += cat(base64_of(b), " ", b, "\n");
  file += bytes.rest();
  try {
    const auto tokenizer = parse_tiktoken_ranks(file, "r.tiktoken");
    require(tokenizer->decode(tokenizer->encode(file)) == file);
    require(parse_tokenizer_json(tokenizer_json(*tokenizer), "t")->fingerprint() == tokenizer->fingerprint());
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with("r.tiktoken"));
  }
  return 0;
}
