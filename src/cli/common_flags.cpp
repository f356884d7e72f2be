// The flags that several subcommands share; see common_flags.h.
#include "cli/common_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/rng.h"
#include "base/threads.h"
#include "cli/number_flag.h"

namespace llmtool {

void CommonFlags::add_output(CLI::App& command) {
  command.add_flag("--json", json, "machine-readable stdout: one JSON object, or one per line");
  command.add_flag("--quiet,-q", quiet, "no progress and no notes on stderr");
  command.add_flag("--no-color", no_color, "no colours (also by NO_COLOR or TERM=dumb)");
}

void CommonFlags::add_compute(CLI::App& command) {
  command.add_option("--device", device, "auto, cpu, vulkan or vulkan:N")->type_name("NAME");
  add_threads(command);
}

void CommonFlags::add_threads(CLI::App& command) {
  add_integer(command, "--threads", "N", threads, "CPU threads (default: the cores available)", 1, 4096);
}

int CommonFlags::thread_count() const { return threads > 0 ? static_cast<int>(threads) : available_cores(); }

void CommonFlags::add_seed(CLI::App& command) {
  add_unsigned(command, "--seed", "N", seed, "makes the command repeat exactly (0 to 2^64-1)");
}

void CommonFlags::apply() const {
  set_quiet(quiet);
  if (no_color) set_color(false);
}

std::uint64_t CommonFlags::seed_or_draw() const {
  if (seed) return *seed;
  const std::uint64_t drawn = random_seed();
  note(cat("seed ", drawn));
  return drawn;
}

void require_part(const std::string& command, const std::string& part,
                  const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), part) != names.end()) return;
  std::string advice = nearest(part, names);
  if (!advice.empty()) {
    advice = cat("did you mean ", advice, "?");
  } else {
    for (const std::string& name : names)
      advice += cat(advice.empty() ? "expected " : name == names.back() ? " or " : ", ", name);
  }
  throw request_error(cat(command, " '", part, "' is not known; ", advice));
}

}  // namespace llmtool
