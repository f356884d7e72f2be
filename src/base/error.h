// What the program throws. Error: something the user can mend (exit 1 or 2). InternalError: a bug, found by a
// check (exit 1). Nothing else ends the process. Not here: how they are printed (cli).
#pragma once
#include <stdexcept>
#include <string>

#include "base/cat.h"

namespace llmtool {

/// request: what was asked for is wrong in itself (exit 2). world: a file, device or amount of memory is not
/// as needed, or the work failed (exit 1).
enum class ErrorKind { request, world };

/// `what` is one line that names the file, key, flag or operation, the value seen and what would be right;
/// `hint`, where not empty, says what to do next.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, std::string hint = {})
      : std::runtime_error(what), kind_(kind), hint_(std::move(hint)) {}
  ErrorKind kind() const noexcept { return kind_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorKind kind_;
  std::string hint_;
};

inline Error request_error(const std::string& what, std::string hint = {}) {
  return Error(ErrorKind::request, what, std::move(hint));
}
inline Error world_error(const std::string& what, std::string hint = {}) {
  return Error(ErrorKind::world, what, std::move(hint));
}

/// Thrown by LLMTOOL_CHECK: the expression that did not hold, where, and the values it was given.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Thrown at a safe point after Ctrl-C or SIGTERM; exit 130.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& what) : std::runtime_error(what) {}
};

[[noreturn]] void check_failed(const char* expression, const char* file, int line, const std::string& values);

}  // namespace llmtool

/// LLMTOOL_CHECK(a == b, "a ", a, " b ", b): a bug if it does not hold. Stays on in release builds.
#define LLMTOOL_CHECK(expression, ...)                                                       \
  do {                                                                                       \
    if (!(expression)) [[unlikely]]                                                          \
      ::llmtool::check_failed(#expression, __FILE__, __LINE__, ::llmtool::cat(__VA_ARGS__)); \
  } while (false)
