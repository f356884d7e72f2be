// Flags that take a number; see number_flag.h.
#include "cli/number_flag.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "base/error.h"

namespace llmtool {

namespace {

std::string range_text(std::int64_t low, std::int64_t high) {
  if (high != std::numeric_limits<std::int64_t>::max()) return cat("a whole number from ", low, " to ", high);
  return low == std::numeric_limits<std::int64_t>::min() ? std::string("a whole number")
                                                         : cat("a whole number of at least ", low);
}

/// The first of "--threads,-t".
std::string flag_name(const std::string& names) { return names.substr(0, names.find(',')); }

template <class T>
void parse(const std::string& names, const std::string& word, const std::string& expected, T low, T high,
           T& value) {
  T parsed{};
  const auto result = std::from_chars(word.data(), word.data() + word.size(), parsed);
  const bool number = result.ec != std::errc::invalid_argument && result.ptr == word.data() + word.size();
  if (!number || word.empty())
    throw request_error(
        cat(flag_name(names), " '", std::string_view(word).substr(0, 60), "': expected ", expected));
  if (result.ec != std::errc() || parsed < low || parsed > high)
    throw request_error(cat(flag_name(names), " ", std::string_view(word).substr(0, 60),
                            " is out of range; expected ", expected));
  value = parsed;
}

CLI::Option* add(CLI::App& command, const std::string& names, const char* type, const std::string& help,
                 std::function<void(const std::string&)> read) {
  return command.add_option_function<std::string>(names, std::move(read), help)->type_name(type);
}

}  // namespace

CLI::Option* add_integer(CLI::App& command, const std::string& names, const char* type, std::int64_t& value,
                         const std::string& help, std::int64_t low, std::int64_t high) {
  return add(command, names, type, help, [names, low, high, &value](const std::string& word) {
    parse<std::int64_t>(names, word, range_text(low, high), low, high, value);
  });
}

CLI::Option* add_unsigned(CLI::App& command, const std::string& names, const char* type,
                          std::optional<std::uint64_t>& value, const std::string& help, std::uint64_t low) {
  return add(command, names, type, help, [names, low, &value](const std::string& word) {
    constexpr std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
    parse<std::uint64_t>(names, word, cat("a whole number from ", low, " to 2^64-1"), low, high,
                         value.emplace());
  });
}

CLI::Option* add_real(CLI::App& command, const std::string& names, const char* type, double& value,
                      const std::string& help) {
  return add(command, names, type, help, [names, &value](const std::string& word) {
    constexpr double all = std::numeric_limits<double>::infinity();
    double parsed = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), parsed);
    if (result.ec != std::errc() || result.ptr != word.data() + word.size() || word.empty() ||
        !(parsed < all && parsed > -all))
      throw request_error(
          cat(flag_name(names), " '", std::string_view(word).substr(0, 60), "': expected a finite number"));
    value = parsed;
  });
}

}  // namespace llmtool
