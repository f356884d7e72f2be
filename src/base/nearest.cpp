// Edit distance over three rows, and the choice of the nearest name.
#include "base/nearest.h"

#include <algorithm>

namespace llmtool {
namespace {
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before_last(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0u : 1u)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest =
      256;  // a longer word is no slip of the finger, and the distance is quadratic
  std::string best;
  std::size_t best_distance = longest;
  if (name.empty() || name.size() > longest) return best;
  for (const std::string& candidate : candidates) {
    const std::size_t length = std::max(name.size(), candidate.size());
    if (length > longest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    const std::size_t allowed = length <= 3 ? 1 : std::max<std::size_t>(length / 3, 2);
    if (distance <= allowed && distance < length && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace llmtool
