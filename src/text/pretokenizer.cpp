// PieceScanner: the alternatives of each pattern in their order, decided by the first characters.
#include "text/pretokenizer.h"

#include "base/error.h"
#include "base/files.h"

namespace llmtool {

Split split_by_name(std::string_view name) {
  if (name == "none") return Split::none;
  if (name == "gpt2") return Split::gpt2;
  if (name == "gpt4") return Split::gpt4;
  if (name == "gpt4_2023") return Split::gpt4_2023;
  throw request_error(
      cat("[bpe] pretokenizer '", printable(name), "' is not known: expected none, gpt2 or gpt4"));
}

// Letters end where no letter follows and numbers where no number does, in both patterns: the alternatives
// that begin with either go on with nothing else, and those that come before them (contractions) need a
// letter next. What is no white space ends before a blank or a tab, which only open pieces or follow white
// space. The alternatives that look ahead do so from white space, with which the left side never ends.
std::size_t last_border(std::string_view text, Split split) noexcept {
  if (split == Split::none) return 0;
  const CharClasses& classes = CharClasses::table();
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80; };
  for (std::size_t at = text.size(); at-- > 1;) {
    if (continues(at)) continue;
    // Of what follows, all bytes must be there to be judged.
    if (static_cast<unsigned char>(text[at]) >= 0x80 && text.size() - at < 4) continue;
    std::size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && continues(begin)) --begin;
    ClassedChar before = classes.at(text, begin);
    if (before.length != at - begin) before.kind = CharClass::other;  // a byte that belongs to no character
    const CharClass after = classes.at(text, at).kind;
    if ((before.kind == CharClass::letter || before.kind == CharClass::number) && after != before.kind)
      return at;
    if (before.kind == CharClass::other && (text[at] == ' ' || text[at] == '\t')) return at;
  }
  return 0;
}

std::size_t PieceScanner::run_end(std::size_t at, CharClass kind) const noexcept {
  while (at < text_.size()) {
    const ClassedChar c = classes_.at(text_, at);
    if (c.kind != kind) break;
    at += c.length;
  }
  return at;
}

std::size_t PieceScanner::contraction(bool any_case) const noexcept {
  const auto letter = [&](std::size_t i) -> char {
    if (at_ + i >= text_.size()) return 0;
    const char c = text_[at_ + i];
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char first = letter(1), second = first == 0 ? '\0' : letter(2);
  if (first == 's' || first == 'd' || first == 'm' || first == 't') return 2;
  if ((first == 'l' && second == 'l') || (first == 'v' && second == 'e') || (first == 'r' && second == 'e'))
    return 3;
  // U+017F, the long s, is an s where case does not count.
  if (any_case && first == '\xC5' && second == '\xBF') return 3;
  return 0;
}

std::size_t PieceScanner::space_end(std::size_t end) const noexcept {
  if (end == text_.size()) return end;
  std::size_t last = end - 1;
  while ((static_cast<unsigned char>(text_[last]) & 0xC0u) == 0x80) --last;
  return last > at_ ? last : end;
}

// '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t PieceScanner::gpt2_end() const noexcept {
  const char lead = text_[at_];
  if (lead == '\'') {
    const std::size_t bytes = contraction(false);
    if (bytes > 0) return at_ + bytes;
  }
  const ClassedChar first = classes_.at(text_, at_);
  if (first.kind != CharClass::space) return run_end(at_ + first.length, first.kind);
  if (lead == ' ' && at_ + 1 < text_.size()) {
    const ClassedChar second = classes_.at(text_, at_ + 1);
    if (second.kind != CharClass::space) return run_end(at_ + 1 + second.length, second.kind);
  }
  return space_end(run_end(at_ + first.length, CharClass::space));
}

// '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|
// \s+(?!\S)|\s                                                     (gpt4_2023: without the alternative \s++$)
std::size_t PieceScanner::gpt4_end() const noexcept {
  const char lead = text_[at_];
  if (lead == '\'') {
    const std::size_t bytes = contraction(true);
    if (bytes > 0) return at_ + bytes;
  }
  const auto is_newline = [&](std::size_t at) { return text_[at] == '\r' || text_[at] == '\n'; };
  const auto with_newlines = [&](std::size_t at) {
    while (at < text_.size() && is_newline(at)) ++at;
    return at;
  };
  const ClassedChar first = classes_.at(text_, at_);
  const std::size_t after = at_ + first.length;
  if (first.kind == CharClass::letter) return run_end(after, CharClass::letter);
  if (first.kind == CharClass::number) {
    std::size_t end = after;
    for (int digits = 1; digits < 3 && end < text_.size(); ++digits) {
      const ClassedChar c = classes_.at(text_, end);
      if (c.kind != CharClass::number) break;
      end += c.length;
    }
    return end;
  }
  if (after < text_.size() && !is_newline(at_)) {
    const ClassedChar second = classes_.at(text_, after);
    if (second.kind == CharClass::letter) return run_end(after + second.length, CharClass::letter);
    if (lead == ' ' && second.kind == CharClass::other)
      return with_newlines(run_end(after + second.length, CharClass::other));
  }
  if (first.kind == CharClass::other) return with_newlines(run_end(after, CharClass::other));

  const std::size_t end = run_end(after, CharClass::space);
  if (split_ == Split::gpt4 && end == text_.size()) return end;
  for (std::size_t at = end; at > at_; --at) {
    if (is_newline(at - 1)) return at;
  }
  return space_end(end);
}

}  // namespace llmtool
