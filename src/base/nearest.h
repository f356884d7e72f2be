// The nearest valid name to a misspelt one, for "did you mean". Not a search: short lists of names only.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmtool {

/// The Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and
/// swaps of neighbours, ASCII letters compared without case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest distance to `name` (the first of equals), or an empty string if none is
/// near: at most one edit for names of up to three bytes, a third of the longer length beyond that.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace llmtool
