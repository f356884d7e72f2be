// A profile as a table and as JSON; see profile.h.
#include "cli/profile.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/cat.h"

namespace llmtool {
namespace {

struct Row {
  std::string kernel;
  KernelTime time;
  double share = 0, gbytes = 0, gflops = 0;  // per second
};

std::vector<Row> rows_of(const KernelTimes& times, double& seconds) {
  std::vector<Row> rows;
  seconds = 0;
  for (const auto& [kernel, time] : times) {
    seconds += time.seconds;
    const double s = std::max(time.seconds, 1e-12);
    rows.push_back({kernel, time, 0, 1e-9 * time.bytes / s, 1e-9 * time.flops / s});
  }
  for (Row& row : rows) row.share = seconds > 0 ? row.time.seconds / seconds : 0;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.time.seconds > b.time.seconds; });
  return rows;
}

double part_of(double value, double limit) { return limit > 0 ? value / limit : 0; }

constexpr std::size_t columns = 8;
using Cells = std::array<std::string, columns>;

/// Kernel names to the left, numbers to the right.
std::string line_of(const Cells& cells) {
  constexpr std::array<std::size_t, columns> widths = {28, 10, 12, 8, 10, 9, 11, 9};
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::string gap(widths[i] - std::min(widths[i], cells[i].size()), ' ');
    line += i == 0 ? cells[i] + gap : gap + cells[i];
  }
  return line + "\n";
}

std::string percent(double part) { return fixed(100 * part, 1) + "%"; }

}  // namespace

std::string profile_text(const KernelTimes& times, const DeviceLimits& limits) {
  double seconds = 0;
  const std::vector<Row> rows = rows_of(times, seconds);
  std::string text =
      cat("profile | ", fixed(1e3 * seconds, 1), " ms in kernels | limits: ", fixed(limits.gbytes, 1),
          " GB/s (", limits.of_bytes, "), ", fixed(limits.gflops, 1), " GFLOP/s (", limits.of_flops, ")\n");
  text += line_of({"kernel", "launches", "ms", "share", "GB/s", "of it", "GFLOP/s", "of it"});
  for (const Row& row : rows) {
    text += line_of({row.kernel, cat(row.time.launches), fixed(1e3 * row.time.seconds, 2), percent(row.share),
                     fixed(row.gbytes, 2), percent(part_of(row.gbytes, limits.gbytes)), fixed(row.gflops, 2),
                     percent(part_of(row.gflops, limits.gflops))});
  }
  return text;
}

Json profile_json(const KernelTimes& times, const DeviceLimits& limits) {
  double seconds = 0;
  Json kernels = Json::array();
  for (const Row& row : rows_of(times, seconds)) {
    kernels.push_back({{"kernel", row.kernel},
                       {"launches", row.time.launches},
                       {"seconds", row.time.seconds},
                       {"share", row.share},
                       {"gbytes_per_second", row.gbytes},
                       {"of_bandwidth", part_of(row.gbytes, limits.gbytes)},
                       {"gflops", row.gflops},
                       {"of_arithmetic", part_of(row.gflops, limits.gflops)}});
  }
  return {{"event", "profile"},
          {"seconds", seconds},
          {"gbytes_limit", limits.gbytes},
          {"gflops_limit", limits.gflops},
          {"gbytes_limit_is", limits.of_bytes},
          {"gflops_limit_is", limits.of_flops},
          {"kernels", kernels}};
}

}  // namespace llmtool
