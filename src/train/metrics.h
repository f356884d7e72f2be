// What a run reports: the log line of a step and the last line, as text and as JSON, and the file that keeps
// them. Not here: when they are written.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "train/evaluate.h"

namespace llmtool {

struct LogLine {
  std::uint64_t step = 0;  ///< Attempted steps so far.
  double lr = 0;
  double train_loss = 0;  ///< Of this step's batch.
  std::optional<double> val_loss;
  double grad_norm = 0;  ///< Before clipping.
  double tokens_per_second = 0;
};

/// "step   100 | lr 0.002947 | train_loss 1.4597 | val_loss 1.5123 | grad_norm 0.83 | 41.2k tok/s"
std::string to_text(const LogLine& line);
/// One JSON object; numbers that are not finite become null.
std::string to_json(const LogLine& line);
/// "final | val_loss 1.5098 | perplexity 4.526 | bits_per_byte 2.178"
std::string final_text(const Evaluation& evaluation);
/// "41.2k", "950", "1.3M".
std::string short_number(double value);

/// metrics.jsonl of a run folder: one object per log line.
class MetricsFile {
 public:
  /// Keeps the lines up to `step` of what is there (0: none) and goes on behind them. A line that cannot be
  /// read is dropped with a warning.
  MetricsFile(Path path, std::uint64_t step);
  void append(const LogLine& line);
  const std::vector<LogLine>& lines() const noexcept { return lines_; }

 private:
  Path path_;
  std::vector<LogLine> lines_;
};

}  // namespace llmtool
