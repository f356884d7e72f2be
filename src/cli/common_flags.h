// The flags that several subcommands share, and opening what they name. Not here: the subcommands.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace CLI {
class App;
}

namespace llmtool {

struct CommonFlags {
  bool json = false;
  bool quiet = false;
  bool no_color = false;
  std::string device;        ///< Empty: not given.
  std::int64_t threads = 0;  ///< 0: the cores available.
  std::optional<std::uint64_t> seed;

  /// --json --quiet --no-color
  void add_output(CLI::App& command);
  /// --device --threads
  void add_compute(CLI::App& command);
  /// --threads alone, for commands that need no device.
  void add_threads(CLI::App& command);
  void add_seed(CLI::App& command);
  /// Puts quiet and colour into force.
  void apply() const;
  /// The threads asked for, else the cores available.
  int thread_count() const;
  /// The seed that was given, else one drawn and noted on stderr.
  std::uint64_t seed_or_draw() const;
};

/// request_error unless `part` of `command` is one of `names`, with the nearest of them, or all.
void require_part(const std::string& command, const std::string& part, const std::vector<std::string>& names);

/// The one place that names devices: "auto", "cpu", "vulkan", "vulkan:N". request_error for another word;
/// world_error for a device that is not there. Says on stderr what `auto` took and why.
std::unique_ptr<Device> open_device(const std::string& name, std::int64_t threads);
/// The same check of the word alone, before anything is opened.
void check_device_name(const std::string& name);

}  // namespace llmtool
