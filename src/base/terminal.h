// What log and progress share: whole writes to stderr and the state of the line that a progress bar occupies.
// Not for others: they say note() or warn().
#pragma once
#include <string_view>

namespace llmtool {

/// Writes all of `bytes` to stderr in as few calls as it takes; failures are ignored, since there is nowhere
/// to report them. A progress bar on the line is wiped first.
void write_stderr(std::string_view bytes) noexcept;

/// Draws `line` (no newline) over the last line of the terminal; an empty one wipes it.
void draw_status_line(std::string_view line) noexcept;

/// Columns of the terminal behind stderr; 80 where it does not say.
int terminal_width() noexcept;

}  // namespace llmtool
