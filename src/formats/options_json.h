// Configuration structs (base/options.h) read from JSON, written to it, set one by one and described for
// --help, all from the one declaration of each option. Not here: which options there are, and rules between
// two of them.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/options.h"
#include "formats/json.h"

namespace llmtool {

/// The variable behind an option; an empty optional is JSON null.
using OptionField =
    std::variant<bool*, std::int64_t*, std::uint64_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*>;
using OptionRule = std::variant<Any, Range, Choices>;

/// One declared option of one struct in memory.
struct Option {
  std::string path;  ///< "train.max_lr"
  OptionField field;
  OptionRule rule;
  std::string help;
};

/// All options of one struct in the order of their declaration, and its sections ("train", "model").
struct OptionTable {
  std::vector<Option> options;
  std::vector<std::pair<std::string, std::string>> sections;  ///< path and help
};

/// What --help and error messages say about an option.
struct OptionInfo {
  std::string path;
  std::string
      type;  ///< "boolean", "integer", "number", "string", "list of strings"; "or null" where optional
  std::string expected;  ///< "a number above 0 and at most 1", "one of layernorm, rmsnorm"
  std::vector<std::string> choices;
  Json value;  ///< the struct's present value: its default, in a fresh struct
  std::string help;
};

namespace detail {

/// The visitor that fills an OptionTable.
class OptionCollector {
 public:
  explicit OptionCollector(OptionTable& table) : table_(table) {}

  template <class Field, class Rule>
  void operator()(const char* name, Field& field, Rule rule, const char* help) {
    table_.options.push_back({cat(prefix_, name), OptionField(&field), OptionRule(std::move(rule)), help});
  }
  template <class Struct>
  void section(const char* name, Struct& inner, const char* help) {
    table_.sections.emplace_back(cat(prefix_, name), help);
    const std::string outer = prefix_;
    prefix_ = cat(outer, name, '.');
    inner.visit(*this);
    prefix_ = outer;
  }

 private:
  OptionTable& table_;
  std::string prefix_;
};

std::set<std::string> read_table(const OptionTable& table, const Json& json, const std::string& source,
                                 ErrorKind kind);
Json write_table(const OptionTable& table);
std::vector<OptionInfo> describe_table(const OptionTable& table);
std::string set_in_table(const OptionTable& table, std::string_view assignment, const std::string& source);

}  // namespace detail

/// The table of `config`, whose fields it points to.
template <class Struct>
OptionTable option_table(Struct& config) {
  OptionTable table;
  detail::OptionCollector collector(table);
  config.visit(collector);
  return table;
}

/// Sets every option that `json` has and returns their paths; the others keep their values. `source` is the
/// file name that opens every error: unknown key (with the nearest name, also of another section), wrong
/// type, out of range, not among the choices. On an error `config` is unchanged.
template <class Struct>
std::set<std::string> read_options(Struct& config, const Json& json, const std::string& source,
                                   ErrorKind kind = ErrorKind::request) {
  Struct copy = config;
  std::set<std::string> paths = detail::read_table(option_table(copy), json, source, kind);
  config = std::move(copy);
  return paths;
}

/// All options with their values, sections as objects.
template <class Struct>
Json write_options(const Struct& config) {
  Struct copy = config;
  return detail::write_table(option_table(copy));
}

/// Every option with its type, what it may be, its present value and its help.
template <class Struct>
std::vector<OptionInfo> describe_options(const Struct& config) {
  Struct copy = config;
  return detail::describe_table(option_table(copy));
}

/// Sets one option from "train.steps=200" and returns its path. The value is JSON; where the option is a
/// string, any other text is taken as it stands, and a list of strings may be given as one bare string
/// (nothing: an empty list).
template <class Struct>
std::string set_option(Struct& config, std::string_view assignment, const std::string& source) {
  return detail::set_in_table(option_table(config), assignment, source);
}

}  // namespace llmtool
