// Splitting text into pieces that merges never cross, as the published patterns of GPT-2 and GPT-4 define it
// (Radford et al., "Language models are unsupervised multitask learners", 2019; the encodings gpt2 and
// cl100k_base). A scanner in place of a regular expression: one pass, no backtracking, constant memory. Not
// here: what becomes of the pieces.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "text/char_class.h"

namespace llmtool {

enum class Split {
  none,  ///< The whole text is one piece.
  gpt2,
  gpt4,
  /// gpt4 as first published and as most Hugging Face files have it: white space that ends the text is cut
  /// after its last newline, where gpt4 keeps it whole.
  gpt4_2023,
};

/// "none", "gpt2", "gpt4" or "gpt4_2023"; request_error for another name.
Split split_by_name(std::string_view name);

/// The last place in `text` that is a border of pieces whatever precedes and follows the text, and where both
/// sides split as they do in the whole; 0 if there is none. Always 0 for Split::none.
std::size_t last_border(std::string_view text, Split split) noexcept;

/// The pieces of a text in order; joined they are the text. Letters and numbers are those of Unicode 16.0; a
/// byte that is not UTF-8 counts as a character that is neither letter, number nor space.
class PieceScanner {
 public:
  PieceScanner(std::string_view text, Split split)
      : text_(text), split_(split), classes_(CharClasses::table()) {}

  bool done() const noexcept { return at_ >= text_.size(); }
  /// The next piece, never empty. Only if not done().
  std::string_view next() noexcept {
    const std::size_t begin = at_;
    at_ = split_ == Split::none ? text_.size() : split_ == Split::gpt2 ? gpt2_end() : gpt4_end();
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::size_t gpt2_end() const noexcept;
  std::size_t gpt4_end() const noexcept;
  /// Where the run of characters of one class that begins at `at` ends.
  std::size_t run_end(std::size_t at, CharClass kind) const noexcept;
  /// Bytes of 's, 't, 're, 've, 'm, 'll or 'd at the apostrophe where the scan is; 0 if there is none.
  std::size_t contraction(bool any_case) const noexcept;
  /// The piece for a run of white space [at_, end) that nothing else claims: all of it at the end of the
  /// text, else all but its last character, which goes with what follows, but at least one.
  std::size_t space_end(std::size_t end) const noexcept;

  std::string_view text_;
  Split split_;
  const CharClasses& classes_;
  std::size_t at_ = 0;
};

}  // namespace llmtool
