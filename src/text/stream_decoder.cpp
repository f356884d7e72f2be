// StreamDecoder: holds back the unfinished tail.
#include "text/stream_decoder.h"

#include <utility>

#include "base/utf8.h"

namespace llmtool {

std::string StreamDecoder::push(std::int32_t id) {
  pending_ += tokenizer_->token_bytes(id);
  const std::size_t ready = complete_utf8_prefix(pending_);
  std::string out = pending_.substr(0, ready);
  pending_.erase(0, ready);
  return out;
}

std::string StreamDecoder::flush() { return std::exchange(pending_, {}); }

}  // namespace llmtool
