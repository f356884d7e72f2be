// Flags that take a number: read strictly and without the locale, refused with the value seen and what would
// be right. Not here: numbers of the configuration (formats/option_value.h).
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmtool {

/// A whole number from `low` to `high`. `names` and `help` as CLI11 takes them, `type` as the help shows it.
CLI::Option* add_integer(CLI::App& command, const std::string& names, const char* type, std::int64_t& value,
                         const std::string& help, std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                         std::int64_t high = std::numeric_limits<std::int64_t>::max());
/// A whole number of 64 bits without sign, from `low` on.
CLI::Option* add_unsigned(CLI::App& command, const std::string& names, const char* type,
                          std::optional<std::uint64_t>& value, const std::string& help,
                          std::uint64_t low = 0);
/// Any number; its range is the caller's to check.
CLI::Option* add_real(CLI::App& command, const std::string& names, const char* type, double& value,
                      const std::string& help);

}  // namespace llmtool
