// Small helpers of the text tests: expecting an error and reading what it says.
#pragma once
#include <string>

#include "base/error.h"

namespace llmtool::test {

/// What an Error says that `f` throws, with its kind in front ("request: ..." or "world: ..."); "" if none is
/// thrown.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return cat(e.kind() == ErrorKind::request ? "request: " : "world: ", e.what());
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace llmtool::test
