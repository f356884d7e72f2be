// Token ids to text as they come, for a terminal: only complete UTF-8 sequences are let through. Not here:
// replacing invalid bytes (they pass unchanged: text is bytes).
#pragma once
#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace llmtool {

class StreamDecoder {
 public:
  /// The tokenizer must outlive the decoder.
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  /// Takes one token and returns what can be shown now: everything up to an unfinished sequence (at most
  /// three bytes, kept for the next call). Bytes that can no longer become valid are returned at once. Joined
  /// with flush(), the pieces are exactly Tokenizer::decode() of the ids.
  std::string push(std::int32_t id);
  /// What is still held back, at the end of the text.
  std::string flush();

 private:
  const Tokenizer* tokenizer_;
  std::string pending_;
};

}  // namespace llmtool
