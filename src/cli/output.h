// stdout: results only, and every failure noticed. A closed pipe is ClosedPipe, which ends the program
// quietly; anything else (a full device) is an Error. Not here: notes and errors, which go to stderr
// (base/log.h).
#pragma once
#include <exception>
#include <string_view>

namespace llmtool {

/// The reader of stdout is gone.
class ClosedPipe : public std::exception {
 public:
  const char* what() const noexcept override { return "stdout was closed"; }
};

/// Writes at once: what has been said is seen.
void print(std::string_view text);
inline void print_line(std::string_view text) {
  print(text);
  print("\n");
}
/// Checks that stdout takes what was written (a file system may say so only now).
void close_output();

}  // namespace llmtool
