// A SAX handler that builds the document and stops at what the library itself would let pass.
#include "formats/json.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace llmtool {
namespace {

/// Builds a Json from parser events. Its errors are thrown at once; the parser holds nothing that would leak.
class Builder {
 public:
  Builder(std::string_view text, const std::string& source, ErrorKind kind)
      : text_(text), source_(source), kind_(kind) {}

  Json take() { return std::move(root_); }

  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(Json(value)); }
  bool number_integer(std::int64_t value) { return add(Json(value)); }
  bool number_unsigned(std::uint64_t value) { return add(Json(value)); }
  bool number_float(double value, const std::string&) { return add(Json(value)); }
  bool string(std::string& value) { return add(Json(std::move(value))); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Level& level = levels_.back();
    if (!level.keys.insert(name).second) {
      level.key = name;
      throw Error(kind_, cat(source_, ": duplicate key ", path()));
    }
    level.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last_token, const Json::exception& error) {
    throw Error(kind_,
                cat(source_, ": malformed JSON at ", place(position), ": ", reason(last_token, error)));
  }

 private:
  /// One open array or object.
  struct Level {
    Json* value;
    std::string key;                       // of the member being read
    std::unordered_set<std::string> keys;  // all so far
  };

  /// Where the next value goes; it stays valid while that value is open, since its parent does not grow
  /// meanwhile.
  Json* place_value(Json&& value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    // Appended to the underlying vector: the key is known to be new, and emplace() would search all others.
    auto& members = static_cast<Json::object_t::Container&>(level.value->get_ref<Json::object_t&>());
    members.emplace_back(level.key, std::move(value));
    return &members.back().second;
  }

  bool add(Json&& value) {
    place_value(std::move(value));
    return true;
  }

  bool open(Json&& container) {
    if (levels_.size() == max_json_depth) {
      throw Error(kind_, cat(source_, ": nested deeper than ", max_json_depth, " levels at ", path()));
    }
    levels_.push_back({place_value(std::move(container)), {}, {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  /// "train.max_lr" or "data.paths[2]": the value being read.
  std::string path() const {
    std::string out;
    for (const Level& level : levels_) {
      if (level.value->is_array()) {
        // A child that is open has its place already.
        out += cat('[', level.value->size() - (&level == &levels_.back() ? 0 : 1), ']');
      } else {
        if (!out.empty()) out += '.';
        out += printable(level.key);
      }
      if (out.size() > 200) return out.substr(0, 200).append("...");
    }
    return out;
  }

  std::string place(std::size_t position) const {
    const std::string_view before = text_.substr(0, std::min(position > 0 ? position - 1 : 0, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto newline = before.rfind('\n');
    const std::size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
    return cat("line ", line, ", column ", column);
  }

  /// The library's own words without its prefix ("[json.exception...] parse error at line 1, column 2: ").
  static std::string reason(const std::string& last_token, const Json::exception& error) {
    if (error.id == 406) return cat("the number ", printable(last_token.substr(0, 60)), " is out of range");
    std::string_view words = error.what();
    if (const auto column = words.find("column "); column != std::string_view::npos) {
      if (const auto colon = words.find(": ", column); colon != std::string_view::npos) {
        words.remove_prefix(colon + 2);
      }
    }
    constexpr std::string_view noise = "syntax error while parsing ";
    if (words.substr(0, noise.size()) == noise)
      words = words.substr(std::string_view("syntax error ").size());
    const bool comment =
        last_token.find("/") != std::string::npos && words.find("invalid literal") != words.npos;
    const std::string text = printable(words.substr(0, 300));
    return comment ? text + " (comments are not JSON)" : text;
  }

  std::string_view text_;
  const std::string& source_;
  ErrorKind kind_;
  Json root_;
  std::vector<Level> levels_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& source, ErrorKind kind, std::uint64_t max_bytes) {
  if (text.size() > max_bytes) {
    throw Error(kind, cat(source, ": ", text.size(), " bytes of JSON; at most ", max_bytes, " are read"));
  }
  Builder builder(text, source, kind);
  Json::sax_parse(text.begin(), text.end(), &builder, Json::input_format_t::json, /*strict=*/true,
                  /*ignore_comments=*/false);
  return builder.take();
}

Json read_json_file(const Path& path, ErrorKind kind, std::uint64_t max_bytes) {
  return parse_json(read_file(path, max_bytes), path == "-" ? "standard input" : printable(path.native()),
                    kind, max_bytes);
}

std::string to_json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "an integer";
    case Json::value_t::number_float:
      return "a number";
    default:
      return "a value of an unknown kind";
  }
}

std::string json_excerpt(const Json& value) {
  if (value.is_object() || value.is_array()) return json_kind(value);  // may be huge
  constexpr std::size_t longest = 60;
  std::string text = value.is_string() && value.get_ref<const std::string&>().size() > longest
                         ? cat('"', value.get_ref<const std::string&>().substr(0, longest), "...\"")
                         : to_json_line(value);
  return printable(text);
}

}  // namespace llmtool
