// Ctrl-C and SIGTERM as a flag that loops ask for at their safe points. SIGPIPE is ignored, so that a closed
// pipe is a write error that can be told from a full device.
#pragma once

namespace llmtool {

/// Installs the handlers; the second signal of a kind ends the process at once with status 130.
void install_signal_handlers();
bool interrupted() noexcept;
/// Throws Interrupted if a signal has come.
void throw_if_interrupted();

}  // namespace llmtool
