// Names inside a run directory: checkpoints/step-00000600, and the files `latest` and `best` that name one of
// them. Internal to checkpoint.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace llmtool {

/// "step-00000600": at least eight digits, so that names sort by step.
std::string checkpoint_name(std::uint64_t step);
Path checkpoint_dir(const Path& root, std::uint64_t step);
/// The step in such a name; nullopt for any other name (a leftover temporary one, a path).
std::optional<std::uint64_t> checkpoint_step(std::string_view name);
/// Steps of the checkpoints that lie in the run, ascending; empty where there is none.
std::vector<std::uint64_t> checkpoint_steps(const Path& root);

/// The checkpoint that the file `pointer` names; nullopt if the file is missing or does not hold such a name.
std::optional<Path> read_run_pointer(const Path& root, std::string_view pointer);
void write_run_pointer(const Path& root, std::string_view pointer, std::uint64_t step);

}  // namespace llmtool
