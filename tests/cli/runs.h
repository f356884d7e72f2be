// What runs leave in their folders, compared. Not here: starting them (tool.h).
#pragma once
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "cli/tool.h"
#include "support/catch.h"

inline std::string metrics_without_speed(const std::filesystem::path& run) {
  return std::regex_replace(file_text(run / "metrics.jsonl"), std::regex(R"(,"tokens_per_second":[^}]*)"),
                            "");
}

/// Weights, moments, state and (with `log`) the metrics of two runs at a step.
inline void same_run(const std::filesystem::path& a, const std::filesystem::path& b, const std::string& step,
                     bool log = true) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "trainer_state.json"}) {
    const std::string left = file_text(a / "checkpoints" / step / name);
    INFO(name << " of " << a << " and " << b);
    CHECK(!left.empty());
    CHECK((left == file_text(b / "checkpoints" / step / name)));
  }
  if (log) CHECK(metrics_without_speed(a) == metrics_without_speed(b));
}

/// The training loss of every line of the run's metrics.
inline std::vector<double> losses_of(const std::filesystem::path& run) {
  std::vector<double> losses;
  for (const std::string& line : lines_of(file_text(run / "metrics.jsonl")))
    losses.push_back(number_after(line, R"("train_loss":)"));
  return losses;
}
