// Options declared once. A configuration struct has a member template
//
//   template <class V> void visit(V& v) { v("n_embd", n_embd, Range{1, 65536}, "width of the residual
//   stream"); }
//
// and reading, checking, printing, saving and help all follow from it (formats/options_json.h). Here: the
// vocabulary of such declarations. Not here: any file format.
//
// Field types: bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>, and
// std::optional of std::int64_t, double or std::string (an empty optional is JSON null). A struct inside a
// struct that has visit() itself is declared by v.section("model", model, "help").
#pragma once
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace llmtool {

/// Inclusive bounds of a number; `above` or `below` exclude the bound itself, and what a 32-bit number rounds
/// to it.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above = false;
  bool below = false;
};

/// The names a string option may have.
struct Choices {
  std::vector<std::string> names;
  Choices(std::initializer_list<const char*> list) : names(list.begin(), list.end()) {}
};

/// No constraint beyond the type (paths, free text, booleans).
struct Any {};

}  // namespace llmtool
