// Curves over the steps of a run as SVG, drawn by hand: axes with round ticks and one line per series.
// loss.svg is such a picture; report.html holds several. Not here: the page around them (report.h).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "train/metrics.h"

namespace llmtool {

struct Series {
  std::string name;
  std::string colour;                             ///< As CSS has it.
  std::vector<std::pair<double, double>> points;  ///< (step, value); those that are not finite are left out.
};

/// One picture, 720 x 400 units, both axes from zero. Names and colours go into the SVG as they are.
std::string line_plot(std::span<const Series> series);

/// `value` of every line over its step; lines without one are left out.
template <class Value>
Series series_of(std::string name, std::string colour, std::span<const LogLine> lines, const Value& value) {
  Series series{std::move(name), std::move(colour), {}};
  for (const LogLine& line : lines)
    if (const std::optional<double> y = value(line))
      series.points.emplace_back(static_cast<double>(line.step), *y);
  return series;
}

/// Training and, where there is one, validation loss.
std::string loss_svg(std::span<const LogLine> lines);

}  // namespace llmtool
