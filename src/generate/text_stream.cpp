// TextStream: stop texts on bytes first, then UTF-8.
#include "generate/text_stream.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace llmtool {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length of the longest end of `bytes` that is a proper beginning of `stop`.
std::size_t begun(std::string_view bytes, std::string_view stop) {
  for (std::size_t n = std::min(bytes.size(), stop.size() - 1); n > 0; --n) {
    if (bytes.substr(bytes.size() - n) == stop.substr(0, n)) return n;
  }
  return 0;
}

}  // namespace

void check_stops(const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    if (stop.empty()) throw request_error("--stop is empty: give the text before which generation ends");
  }
}

TextStream::TextStream(std::vector<std::string> stops, Sink sink)
    : stops_(std::move(stops)), sink_(std::move(sink)) {
  check_stops(stops_);
}

bool TextStream::push(std::string_view bytes) {
  if (stopped_) return true;
  held_ += bytes;
  // Whatever could begin a stop text is still held, so a search in what is held finds every occurrence.
  std::size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    stopped_ = true;
    held_.resize(first);
    release(first, true);
    return true;
  }
  std::size_t back = 0;
  for (const std::string& stop : stops_) back = std::max(back, begun(held_, stop));
  release(held_.size() - back, false);
  return false;
}

void TextStream::finish() { release(held_.size(), true); }

void TextStream::release(std::size_t upto, bool last) {
  const std::string_view ready = std::string_view(held_).substr(0, upto);
  const std::size_t whole = complete_utf8_prefix(ready);
  std::string out;
  for (std::size_t at = 0; at < whole;) {
    const CodePoint unit = decode_utf8(ready, at);
    const auto length = static_cast<std::size_t>(std::max(unit.length, 1));
    out += unit.length > 0 ? ready.substr(at, length) : replacement;
    at += length;
  }
  if (last && whole < ready.size()) out += replacement;
  held_.erase(0, last ? upto : whole);
  text_ += out;
  if (sink_ && !out.empty()) sink_(out);
}

}  // namespace llmtool
