// Log lines as text and JSON, and the file that keeps them.
#include "train/metrics.h"

#include <cmath>
#include <cstdio>

#include "base/cat.h"
#include "base/error.h"
#include "base/log.h"
#include "formats/json.h"

namespace llmtool {

namespace {

std::string padded(std::uint64_t value, std::size_t width) {
  std::string text = cat(value);
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// Two decimals, but never a small norm shown as 0.00.
std::string norm_text(double norm) { return norm != 0 && norm < 0.1 ? fixed(norm, 4) : fixed(norm, 2); }

LogLine from_json(std::string_view row, const std::string& source) {
  const Json json = parse_json(row, source, ErrorKind::world);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_unsigned())
    throw world_error(cat(source, " is not an object with a step"));
  // A number that was not finite was written as null.
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : std::nan("");
  };
  LogLine line;
  line.step = json["step"].get<std::uint64_t>();
  line.lr = number("lr");
  line.train_loss = number("train_loss");
  if (json.contains("val_loss")) line.val_loss = number("val_loss");
  line.grad_norm = number("grad_norm");
  line.tokens_per_second = number("tokens_per_second");
  return line;
}

}  // namespace

std::string short_number(double value) {
  if (value >= 1e6) return fixed(value / 1e6, 1) + "M";
  if (value >= 1e3) return fixed(value / 1e3, 1) + "k";
  return fixed(value, 0);
}

std::string to_text(const LogLine& line) {
  std::string text = cat("step ", padded(line.step, 5), " | lr ", fixed(line.lr, 6), " | train_loss ",
                         fixed(line.train_loss, 4));
  if (line.val_loss) text += cat(" | val_loss ", fixed(*line.val_loss, 4));
  return text + cat(" | grad_norm ", norm_text(line.grad_norm), " | ", short_number(line.tokens_per_second),
                    " tok/s");
}

std::string to_json(const LogLine& line) {
  Json json;
  json["step"] = line.step;
  json["lr"] = line.lr;
  json["train_loss"] = line.train_loss;
  if (line.val_loss) json["val_loss"] = *line.val_loss;
  json["grad_norm"] = line.grad_norm;
  json["tokens_per_second"] = std::round(line.tokens_per_second * 10) / 10;
  return to_json_line(json);
}

std::string final_text(const Evaluation& evaluation) {
  return cat("final | val_loss ", fixed(evaluation.loss, 4), " | perplexity ",
             fixed(evaluation.perplexity(), 3), " | bits_per_byte ", fixed(evaluation.bits_per_byte(), 3));
}

MetricsFile::MetricsFile(Path path, std::uint64_t step) : path_(std::move(path)) {
  std::string kept;
  if (std::error_code ignored; step > 0 && std::filesystem::exists(path_, ignored)) {
    const std::string text = read_file(path_);
    std::uint64_t number = 0, dropped = 0;
    std::string first_dropped;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) break;  // cut off by a crash
      const std::string_view row(text.data() + at, end - at);
      at = end + 1;
      ++number;
      std::optional<LogLine> line;
      try {
        line = from_json(row, cat("log line ", number));
      } catch (const Error& error) {
        // The log is not what a resume goes on from: what cannot be read of it is no reason to refuse.
        if (++dropped == 1) first_dropped = error.what();
        continue;
      }
      if (line->step > step) continue;
      lines_.push_back(*line);
      kept.append(row).push_back('\n');
    }
    if (dropped > 0)
      warn(cat(printable(path_.native()), ": ", dropped, dropped == 1 ? " line" : " lines",
               " of the log cannot be read and are dropped, the first: ", first_dropped));
  }
  write_file_atomic(path_, kept);
}

void MetricsFile::append(const LogLine& line) {
  lines_.push_back(line);
  const std::string row = to_json(line) + "\n";
  std::FILE* file = std::fopen(path_.c_str(), "ab");
  const bool good =
      file != nullptr && std::fwrite(row.data(), 1, row.size(), file) == row.size() && std::fflush(file) == 0;
  if ((file != nullptr && std::fclose(file) != 0) || !good)
    throw world_error(cat(path_.string(), ": the log line of step ", line.step, " could not be written"));
}

}  // namespace llmtool
