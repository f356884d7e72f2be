// From the bytes of generated tokens to text that can be shown as it comes: always valid UTF-8, ended by stop
// texts. Not here: which tokens (generator.h).
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace llmtool {

/// request_error if one of them is empty.
void check_stops(const std::vector<std::string>& stops);

/// Takes bytes piece by piece. What may be the beginning of a stop text or of a UTF-8 sequence is held back;
/// a stop text is found across the borders of pieces. Bytes that are not UTF-8 become U+FFFD, so nothing
/// shown is ever broken.
class TextStream {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// request_error if a stop text is empty. `sink` may be empty.
  TextStream(std::vector<std::string> stops, Sink sink);

  /// True once the first stop text has appeared; the text then ends before it, and nothing more is taken.
  bool push(std::string_view bytes);
  /// Lets out what is held back; an unfinished sequence becomes one U+FFFD.
  void finish();

  bool stopped() const noexcept { return stopped_; }
  /// All that has been let out so far.
  const std::string& text() const noexcept { return text_; }

 private:
  void release(std::size_t upto, bool last);

  std::vector<std::string> stops_;
  Sink sink_;
  std::string held_;  ///< Bytes not yet let out.
  std::string text_;
  bool stopped_ = false;
};

}  // namespace llmtool
