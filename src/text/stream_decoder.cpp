// StreamDecoder: holds back the unfinished tail.
#include "text/stream_decoder.h"

#include <utility>

#include "text/utf8.h"

namespace llmtool {

std::string StreamDecoder::push(std::int32_t id) {
  pending_ += tokenizer_->token_bytes(id);
  std::size_t ready = 0;
  while (ready < pending_.size()) {
    const Utf8Unit unit = utf8_front(std::string_view(pending_).substr(ready));
    if (unit.kind == Utf8Unit::Kind::truncated) break;
    ready += unit.length;
  }
  std::string out = pending_.substr(0, ready);
  pending_.erase(0, ready);
  return out;
}

std::string StreamDecoder::flush() { return std::exchange(pending_, {}); }

}  // namespace llmtool
