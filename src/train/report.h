// report.html: one page about a run, for a browser without network or scripts: numbers, curves, sample, log
// and configuration. Not here: the numbers themselves (trainer.h, metrics.h), the curves (line_plot.h).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "train/run.h"

namespace llmtool {

/// What is known of a run when the page is written; the last two only at its end.
struct RunReport {
  const TrainPlan& plan;
  const Device& device;
  TrainerState state;
  std::optional<Evaluation> evaluation;
  std::string sample;
};

std::string report_html(const RunReport& report, std::span<const LogLine> lines);

/// Any bytes as text of an HTML page: markup is escaped, and what is not UTF-8 or a control character becomes
/// U+FFFD.
std::string html_text(std::string_view bytes);

}  // namespace llmtool
