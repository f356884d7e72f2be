// Notes and warnings for the user, on stderr. A global verbosity only: what is said is the caller's business.
// Results go to stdout and never through here.
#pragma once
#include <string_view>

namespace llmtool {

/// Quiet: note() says nothing. Warnings are always printed.
void set_quiet(bool quiet) noexcept;
bool quiet() noexcept;
/// "llmtool: <text>" on stderr, unless quiet.
void note(std::string_view text);
/// "llmtool: warning: <text>" on stderr.
void warn(std::string_view text);

/// True when stderr is a terminal that takes a moving progress bar (isatty, TERM is not dumb, NO_COLOR and
/// --no-color honoured for colour only).
bool stderr_is_terminal();
void set_color(bool allowed) noexcept;
bool stderr_color();
bool stdout_color();

}  // namespace llmtool
