// The letters and the numbers of Unicode 16.0 as ranges (general categories L and N), from U+0080 on. Looked
// up through char_class.h. Not here: ASCII and white space, which are few enough to be written out there.
#pragma once
#include <span>

namespace llmtool {

/// Both ends are included.
struct CodePointRange {
  char32_t first;
  char32_t last;
};

/// Ascending, disjoint.
std::span<const CodePointRange> unicode_letters() noexcept;
std::span<const CodePointRange> unicode_numbers() noexcept;

}  // namespace llmtool
