// Walking documents and tables of options against each other.
#include "formats/options_json.h"

#include <algorithm>

#include "base/nearest.h"
#include "formats/option_value.h"

namespace llmtool::detail {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string section_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

const Option* find_option(const OptionTable& table, std::string_view path) {
  const auto at = std::find_if(table.options.begin(), table.options.end(),
                               [&](const Option& o) { return o.path == path; });
  return at == table.options.end() ? nullptr : &*at;
}

bool is_section(const OptionTable& table, std::string_view path) {
  return std::any_of(table.sections.begin(), table.sections.end(),
                     [&](const auto& s) { return s.first == path; });
}

std::vector<std::string> all_paths(const OptionTable& table) {
  std::vector<std::string> out;
  for (const Option& option : table.options) out.push_back(option.path);
  for (const auto& section : table.sections) out.push_back(section.first);
  return out;
}

/// What was meant by an unknown path: the same key elsewhere, then a near one beside it, then a near one
/// anywhere.
std::string meant(const OptionTable& table, const std::string& path) {
  const std::string key = last_part(path), section = section_of(path);
  std::vector<std::string> beside, paths = all_paths(table), keys;
  for (const std::string& candidate : paths) {
    keys.push_back(last_part(candidate));
    if (keys.back() == key) return candidate;
    if (section_of(candidate) == section) beside.push_back(candidate);
  }
  std::vector<std::string> beside_keys;
  for (const std::string& candidate : beside) beside_keys.push_back(last_part(candidate));
  const auto pick = [&key](const std::vector<std::string>& names, const std::vector<std::string>& full) {
    const std::string near = nearest(key, names);
    const auto at = std::find(names.begin(), names.end(), near);
    return near.empty() ? std::string() : full[static_cast<std::size_t>(at - names.begin())];
  };
  if (const std::string near = pick(beside_keys, beside); !near.empty()) return near;
  if (const std::string near = pick(keys, paths); !near.empty()) return near;
  return nearest(path, paths);
}

Error unknown_key(const OptionTable& table, const std::string& path, const std::string& source,
                  ErrorKind kind) {
  std::string shown = printable(path);
  if (shown.size() > 100) shown = shown.substr(0, 100).append("...");
  const std::string near = meant(table, path);
  if (!near.empty()) return Error(kind, cat(source, ": unknown key ", shown, "; did you mean ", near, "?"));
  std::string names;
  for (const std::string& candidate : all_paths(table)) {
    if (section_of(candidate) == section_of(path))
      names += (names.empty() ? "" : ", ") + last_part(candidate);
  }
  return Error(kind, cat(source, ": unknown key ", shown,
                         names.empty() ? std::string() : cat("; the keys here are ", names)));
}

void read_section(const OptionTable& table, const Json& json, const std::string& section,
                  const std::string& source, ErrorKind kind, std::set<std::string>& paths) {
  if (!json.is_object()) {
    throw Error(kind, cat(source, ": ", section.empty() ? std::string() : cat(section, ": "),
                          "expected an object, got ", json_excerpt(json)));
  }
  for (const auto& [key, value] : json.items()) {
    const bool dotted = key.find('.') != std::string::npos;  // "train.steps" as one key is not the path
    const std::string path = section.empty() ? key : cat(section, '.', key);
    const Option* option = find_option(table, path);
    if (!dotted && option != nullptr) {
      assign(*option, value, source, kind);
      paths.insert(path);
    } else if (!dotted && is_section(table, path)) {
      read_section(table, value, path, source, kind, paths);
    } else if (option != nullptr) {
      throw Error(kind, cat(source, ": unknown key \"", path, "\"; write ", last_part(path),
                            " inside the object ", section_of(path)));
    } else {
      throw unknown_key(table, path, source, kind);
    }
  }
}

/// The value of "KEY=VALUE": JSON where that is meant, the text itself where the option holds text.
Json assigned_value(const Option& option, std::string_view text, const std::string& source) {
  const auto holds = [&option](auto* example) {
    return std::holds_alternative<decltype(example)>(option.field);
  };
  const bool list = holds(static_cast<std::vector<std::string>*>(nullptr));
  const bool optional_text = holds(static_cast<std::optional<std::string>*>(nullptr));
  const bool plain_text = optional_text || holds(static_cast<std::string*>(nullptr));
  const bool quoted = !text.empty() && text.front() == '"';
  const std::string place = cat(source, ": ", option.path);
  if (list) {
    if (!text.empty() && text.front() == '[') return parse_json(text, place);
    if (text.empty()) return Json::array();
    return Json::array({quoted ? parse_json(text, place) : Json(text)});
  }
  if (optional_text && text == "null") return Json();
  if (plain_text) return quoted ? parse_json(text, place) : Json(text);
  try {
    return parse_json(text, place);
  } catch (const Error&) {
    return Json(text);  // refused below, with the words for what was expected
  }
}

}  // namespace

std::set<std::string> read_table(const OptionTable& table, const Json& json, const std::string& source,
                                 ErrorKind kind) {
  std::set<std::string> paths;
  read_section(table, json, "", source, kind, paths);
  return paths;
}

Json write_table(const OptionTable& table) {
  Json out = Json::object();
  for (const Option& option : table.options) {
    Json* place = &out;
    std::string_view rest = option.path;
    for (auto dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      place = &(*place)[std::string(rest.substr(0, dot))];
      rest.remove_prefix(dot + 1);
    }
    (*place)[std::string(rest)] = value_of(option);
  }
  return out;
}

std::vector<OptionInfo> describe_table(const OptionTable& table) {
  std::vector<OptionInfo> out;
  for (const Option& option : table.options) {
    const auto* choices = std::get_if<Choices>(&option.rule);
    out.push_back({option.path, type_name(option), expectation(option),
                   choices == nullptr ? std::vector<std::string>() : choices->names, value_of(option),
                   option.help});
  }
  return out;
}

std::string set_in_table(const OptionTable& table, std::string_view assignment, const std::string& source) {
  const auto equals = assignment.find('=');
  if (equals == assignment.npos || equals == 0) {
    throw request_error(
        cat(source, ": expected KEY=VALUE, got '", printable(assignment.substr(0, 100)), "'"));
  }
  const std::string path(assignment.substr(0, equals));
  const Option* option = find_option(table, path);
  if (option == nullptr && is_section(table, path)) {
    throw request_error(
        cat(source, ": ", path, " is a section; set one of its keys, as in ", path, ".KEY=VALUE"));
  }
  if (option == nullptr) throw unknown_key(table, path, source, ErrorKind::request);
  assign(*option, assigned_value(*option, assignment.substr(equals + 1), source), source, ErrorKind::request);
  return path;
}

}  // namespace llmtool::detail
