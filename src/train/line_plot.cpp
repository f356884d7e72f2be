// Curves over steps as SVG; see line_plot.h.
#include "train/line_plot.h"

#include <algorithm>
#include <cmath>

#include "base/cat.h"

namespace llmtool {

namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr double width = 720, height = 400, left = 64, right = 24, top = 40, bottom = 48;
constexpr std::size_t most_dots = 100;  ///< A curve of more points is drawn without marking each.

/// A round distance between about five ticks over `range`: 1, 2 or 5 times a power of ten.
double tick_step(double range) {
  const double rough = range / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

struct Axis {
  double low, high, from, to;
  double operator()(double v) const { return from + (v - low) / (high - low) * (to - from); }
};

/// A multiple of the tick as its axis shows it: no more digits than the tick needs.
std::string tick_text(double v, double tick) {
  const double exponent = std::floor(std::log10(tick) + 1e-9);
  if (v == 0) return "0";
  if (exponent < -6 || v >= 1e7) return general(v);
  return fixed(v, exponent < 0 ? static_cast<int>(-exponent) : 0);
}

std::string text(double x, double y, const char* anchor, const std::string& what) {
  return cat("<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" text-anchor=\"", anchor, "\">", what,
             "</text>\n");
}

std::string curve(const Points& points, const Axis& x, const Axis& y, const std::string& colour) {
  std::string out = cat("<polyline fill=\"none\" stroke=\"", colour, "\" stroke-width=\"2\" points=\"");
  for (const auto& [step, loss] : points) out += cat(fixed(x(step), 1), ",", fixed(y(loss), 1), " ");
  out += "\"/>\n";
  if (points.size() > most_dots) return out;
  for (const auto& [step, loss] : points)
    out += cat("<circle cx=\"", fixed(x(step), 1), "\" cy=\"", fixed(y(loss), 1), "\" r=\"2.5\" fill=\"",
               colour, "\"/>\n");
  return out;
}

}  // namespace

std::string line_plot(std::span<const Series> series) {
  std::vector<Series> finite(series.begin(), series.end());
  double last_step = 1, highest = 0;
  for (Series& one : finite) {
    std::erase_if(one.points, [](const auto& p) { return !std::isfinite(p.second); });
    for (const auto& [step, value] : one.points)
      last_step = std::max(last_step, step), highest = std::max(highest, value);
  }
  if (!(highest > 0)) highest = 1;
  const double value_tick = tick_step(highest);
  const double step_tick = std::max(1.0, tick_step(last_step));
  const Axis x{0, last_step, left, width - right};
  const Axis y{0, std::ceil(highest / value_tick) * value_tick, height - bottom, top};

  std::string out =
      cat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", fixed(width, 0), " ", fixed(height, 0),
          "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  const auto ticks = static_cast<int>(std::lround(y.high / value_tick));
  for (int i = 0; i <= ticks; ++i) {
    const double v = i * value_tick;
    out += cat("<line x1=\"", fixed(left, 0), "\" x2=\"", fixed(width - right, 0), "\" y1=\"", fixed(y(v), 1),
               "\" y2=\"", fixed(y(v), 1), "\" stroke=\"#ddd\"/>\n");
    out += text(left - 8, y(v) + 4, "end", tick_text(v, value_tick));
  }
  for (double v = 0; v <= last_step * 1.0001; v += step_tick)
    out += text(x(v), height - bottom + 18, "middle", tick_text(v, step_tick));
  out += text((left + width - right) / 2, height - 10, "middle", "step");
  std::string legend;
  for (const Series& one : finite) {
    if (one.points.empty() && finite.size() > 1) continue;
    out += curve(one.points, x, y, one.colour);
    legend += cat(legend.empty() ? "" : " ", "<tspan fill=\"", one.colour, "\">", one.name, "</tspan>");
  }
  out += text(width - right, 24, "end", legend);
  return out + "</svg>\n";
}

std::string loss_svg(std::span<const LogLine> lines) {
  return line_plot(std::vector<Series>{
      series_of("train_loss", "#1f77b4", lines,
                [](const LogLine& line) { return std::optional(line.train_loss); }),
      series_of("val_loss", "#d62728", lines, [](const LogLine& line) { return line.val_loss; })});
}

}  // namespace llmtool
