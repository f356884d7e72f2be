// Type, range and choice checks. Integers are checked exactly, not by way of double.
#include "formats/option_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/nearest.h"

namespace llmtool::detail {
namespace {

template <class T>
struct Unwrapped {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};

template <class T>
constexpr bool is_integer = std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>;

/// A bound without an exponent where it is a whole number.
std::string bound(double value) {
  if (std::abs(value) < 1e15 && std::floor(value) == value) return cat(static_cast<std::int64_t>(value));
  return general(value);
}

std::string range_words(const Range& r) {
  const bool low = std::isfinite(r.min), high = std::isfinite(r.max);
  if (low && high && !r.above && !r.below) return cat(" from ", bound(r.min), " to ", bound(r.max));
  std::string words;
  if (low) words = cat(r.above ? " above " : " of at least ", bound(r.min));
  if (high)
    words += cat(low ? " and " : " ", r.below ? "below " : low ? "at most " : "of at most ", bound(r.max));
  return words;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += out.empty() ? name : cat(", ", name);
  return out;
}

template <class T>
std::string base_expectation(const OptionRule& rule) {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return "a list of strings";
  } else if constexpr (std::is_same_v<T, std::string>) {
    const auto* choices = std::get_if<Choices>(&rule);
    return choices == nullptr ? "a string" : cat("one of ", joined(choices->names));
  } else {
    const auto* range = std::get_if<Range>(&rule);
    const std::string words = range == nullptr ? std::string() : range_words(*range);
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (words.empty()) return cat("an integer from 0 to ", std::numeric_limits<std::uint64_t>::max());
    }
    return cat(is_integer<T> ? "an integer" : "a number", words);
  }
}

bool within(double value, const OptionRule& rule) {
  const auto* r = std::get_if<Range>(&rule);
  if (r == nullptr) return true;
  return (r->above ? value > r->min : value >= r->min) && (r->below ? value < r->max : value <= r->max);
}

/// Real options end as 32-bit numbers: one that becomes the excluded bound there (0.99999999999 as 1, 1e-300
/// as 0) would divide by zero later.
bool within_as_float(double value, const OptionRule& rule) {
  const auto* r = std::get_if<Range>(&rule);
  if (r == nullptr) return true;
  const auto rounded = static_cast<double>(static_cast<float>(value));
  return !(r->above && rounded <= r->min) && !(r->below && rounded >= r->max);
}

/// The integer that `value` holds exactly, be it written 1000 or 1000.0; nothing if it is beyond T.
template <class T>
std::optional<T> exact_integer(const Json& value) {
  using Limits = std::numeric_limits<T>;
  if (value.is_number_unsigned()) {
    const auto v = value.get<std::uint64_t>();
    if (v > static_cast<std::uint64_t>(Limits::max())) return std::nullopt;
    return static_cast<T>(v);
  }
  if (value.is_number_integer()) {
    const auto v = value.get<std::int64_t>();
    if (std::is_unsigned_v<T> && v < 0) return std::nullopt;
    return static_cast<T>(v);
  }
  const double v = value.get<double>();
  const double end = std::ldexp(1.0, Limits::digits);  // one past the largest T, exact as a double
  if (v >= end || v < (std::is_unsigned_v<T> ? 0.0 : -end)) return std::nullopt;
  return static_cast<T>(v);
}

/// Why a value is refused: the part after "<source>: <path>: ".
struct Refusal {
  std::string words;
};

template <class T>
T converted(const Json& value, const OptionRule& rule, const std::string& expected) {
  const Refusal wrong_type{cat("expected ", expected, ", got ", json_excerpt(value))};
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) throw wrong_type;
    return value.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) throw wrong_type;
    std::string text = value.get<std::string>();
    if (const auto* choices = std::get_if<Choices>(&rule)) {
      const auto& names = choices->names;
      if (std::find(names.begin(), names.end(), text) == names.end()) {
        const std::string near = nearest(text, names);
        throw Refusal{cat(json_excerpt(value), " is not ", expected,
                          near.empty() ? std::string() : cat("; did you mean ", near, "?"))};
      }
    }
    return text;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (!value.is_array()) throw wrong_type;
    std::vector<std::string> list;
    for (const Json& item : value) {
      if (!item.is_string()) {
        throw Refusal{cat("expected ", expected, ", got ", json_excerpt(item), " at index ", list.size())};
      }
      list.push_back(item.get<std::string>());
    }
    return list;
  } else {
    if (!value.is_number()) throw wrong_type;
    const Refusal out_of_range{cat(json_excerpt(value), " is out of range; expected ", expected)};
    if constexpr (is_integer<T>) {
      if (value.is_number_float() && std::floor(value.get<double>()) != value.get<double>()) {
        throw Refusal{cat(json_excerpt(value), " is not an integer; expected ", expected)};
      }
      const std::optional<T> number = exact_integer<T>(value);
      if (!number || !within(static_cast<double>(*number), rule)) throw out_of_range;
      return *number;
    } else {
      const double number = value.get<double>();
      if (!std::isfinite(number) || !within(number, rule)) throw out_of_range;
      if (!within_as_float(number, rule))
        throw Refusal{cat(json_excerpt(value),
                          " is too near the bound (as a 32-bit number it is the bound); ", "expected ",
                          expected)};
      return number;
    }
  }
}

}  // namespace

std::string expectation(const Option& option) {
  return std::visit(
      [&](auto* field) {
        using U = Unwrapped<std::remove_pointer_t<decltype(field)>>;
        std::string words = base_expectation<typename U::type>(option.rule);
        return U::optional ? words + ", or null" : words;
      },
      option.field);
}

std::string type_name(const Option& option) {
  return std::visit(
      [](auto* field) {
        using U = Unwrapped<std::remove_pointer_t<decltype(field)>>;
        using T = typename U::type;
        const std::string name = std::is_same_v<T, bool>          ? "boolean"
                                 : is_integer<T>                  ? "integer"
                                 : std::is_same_v<T, double>      ? "number"
                                 : std::is_same_v<T, std::string> ? "string"
                                                                  : "list of strings";
        return U::optional ? name + " or null" : name;
      },
      option.field);
}

void assign(const Option& option, const Json& value, const std::string& source, ErrorKind kind) {
  try {
    std::visit(
        [&](auto* field) {
          using U = Unwrapped<std::remove_pointer_t<decltype(field)>>;
          if constexpr (U::optional) {
            if (value.is_null()) {
              field->reset();
              return;
            }
          }
          *field = converted<typename U::type>(value, option.rule, expectation(option));
        },
        option.field);
  } catch (const Refusal& refusal) {
    throw Error(kind, cat(source, ": ", option.path, ": ", refusal.words));
  }
}

Json value_of(const Option& option) {
  return std::visit(
      [](auto* field) {
        if constexpr (Unwrapped<std::remove_pointer_t<decltype(field)>>::optional) {
          return field->has_value() ? Json(**field) : Json();
        } else {
          return Json(*field);
        }
      },
      option.field);
}

}  // namespace llmtool::detail
