// Options declared once. A configuration struct has
//
//
//   template <class V> void visit(V& v) { v("n_embd", n_embd, Range{1, 65536}, "width of the residual stream"); }
//
// and reading, checking, printing, saving and help all follow from it (formats/options_json.h). Here: the vocabulary
// of such declarations. Not here: any file format.
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace llmtool {

/// Inclusive bounds of a number; a bound that is open is said by `above` or `below`.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above = false;  ///< min itself is excluded
  bool below = false;  ///< max itself is excluded
};

/// The names an enumeration-like string may have; the first is the default.
struct Choices {
  std::vector<std::string> names;
  Choices(std::initializer_list<const char*> list) : names(list.begin(), list.end()) {}
};

/// No constraint beyond the type (paths, free text, booleans).
struct Any {};

// A struct's declaration is a member template
//     template <class V> void visit(V& v) { v("n_embd", n_embd, Range{1, 65536}, "width of the residual stream"); }
// called on a live object, with these field types: bool, std::int64_t, std::uint64_t, double, std::string,
// std::vector<std::string>, std::optional<std::int64_t>, std::optional<double>, std::optional<std::string>
// (an empty optional is JSON null), and nested structs that have visit() themselves: v.section("model", model).

}  // namespace llmtool
