// cat(): joins values into one string, the same in every locale. Not a formatter: widths and digits are
// asked for by fixed() and general(), which is all that messages and log lines need.
#pragma once
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace llmtool {

/// `value` with exactly `digits` decimals ("0.0029", "nan", "inf"); independent of the locale.
std::string fixed(double value, int digits);
/// `value` in the shortest form that reads back as the same double.
std::string general(double value);
std::string general(float value);

namespace detail {
inline void append(std::string& out, std::string_view v) { out += v; }
inline void append(std::string& out, char v) { out += v; }
/// Only bool itself: a pointer, a literal's too, would otherwise prefer this overload.
template <std::same_as<bool> T>
void append(std::string& out, T v) {
  out += v ? "true" : "false";
}
inline void append(std::string& out, double v) { out += general(v); }
inline void append(std::string& out, float v) { out += general(v); }
template <std::integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, char>) void append(std::string& out, T v) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  out.append(buffer, end);
}
}  // namespace detail

template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

}  // namespace llmtool
