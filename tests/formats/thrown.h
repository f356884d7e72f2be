// The text and kind of the Error that a call throws.
#pragma once
#include <string>

#include "base/error.h"

/// "request: <text>" or "world: <text>", or "nothing thrown".
template <class Call>
std::string thrown(const Call& call) {
  try {
    call();
  } catch (const llmtool::Error& e) {
    return llmtool::cat(e.kind() == llmtool::ErrorKind::request ? "request: " : "world: ", e.what());
  }
  return "nothing thrown";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
