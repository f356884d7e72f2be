// The distinct pieces of a text and how often each occurs: what BPE training works on. Not here: how text is
// split (pretokenizer.h).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/pretokenizer.h"

namespace llmtool {

struct CountedPiece {
  std::string_view text;  ///< Where it first occurs; lives as long as the text counted.
  std::int64_t count;

  bool operator==(const CountedPiece&) const = default;
};

/// By descending count, then in order of first occurrence. Split::none: the whole text, once. Can be
/// interrupted (base/interrupt.h).
std::vector<CountedPiece> count_pieces(std::string_view text, Split split);

}  // namespace llmtool
