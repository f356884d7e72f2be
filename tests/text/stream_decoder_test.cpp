// The incremental decoder: only whole sequences come out, and nothing is lost.
#include "text/stream_decoder.h"

#include "support/catch.h"
#include "text/byte_tokenizer.h"

using namespace llmtool;

namespace {

std::vector<std::string> pieces(const std::string& bytes) {
  const ByteTokenizer tokenizer;
  StreamDecoder decoder(tokenizer);
  std::vector<std::string> out;
  for (const std::int32_t id : tokenizer.encode(bytes)) out.push_back(decoder.push(id));
  out.push_back(decoder.flush());
  return out;
}

}  // namespace

using Pieces = std::vector<std::string>;

TEST_CASE("stream decoder: complete sequences only") {
  CHECK(pieces("aß🦊") == Pieces{"a", "", "ß", "", "", "", "🦊", ""});
}

TEST_CASE("stream decoder: invalid bytes come as soon as they cannot become valid") {
  CHECK(pieces("\xff"
               "a") == Pieces{"\xff", "a", ""});
  CHECK(pieces("\xe7\x8b"
               "x") == Pieces{"", "", "\xe7\x8bx", ""});
  CHECK(pieces("\xc3\xc3\xa9") == Pieces{"", "\xc3", "é", ""});
  CHECK(pieces("\xed\xa0\x80") == Pieces{"", "\xed\xa0", "\x80", ""});
}

TEST_CASE("stream decoder: flush gives the unfinished end") {
  CHECK(pieces("a\xf0\x9f\xa6") == Pieces{"a", "", "", "", "\xf0\x9f\xa6"});
}
