// The SVG of a run's losses, drawn by hand: two curves and two axes.
#include "train/loss_plot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/cat.h"

namespace llmtool {

namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr double width = 720, height = 400, left = 64, right = 24, top = 40, bottom = 48;

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

std::string text(double x, double y, const char* anchor, const std::string& what) {
  return cat("<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" text-anchor=\"", anchor, "\">", what,
             "</text>\n");
}

std::string curve(const Points& points, const Axis& x, const Axis& y, const char* colour) {
  std::string out = cat("<polyline fill=\"none\" stroke=\"", colour, "\" stroke-width=\"2\" points=\"");
  for (const auto& [step, loss] : points) out += cat(fixed(x(step), 1), ",", fixed(y(loss), 1), " ");
  out += "\"/>\n";
  for (const auto& [step, loss] : points)
    out += cat("<circle cx=\"", fixed(x(step), 1), "\" cy=\"", fixed(y(loss), 1), "\" r=\"2.5\" fill=\"",
               colour, "\"/>\n");
  return out;
}

}  // namespace

std::string loss_svg(std::span<const LogLine> lines) {
  Points train, val;
  for (const LogLine& line : lines) {
    if (std::isfinite(line.train_loss)) train.emplace_back(static_cast<double>(line.step), line.train_loss);
    if (line.val_loss && std::isfinite(*line.val_loss))
      val.emplace_back(static_cast<double>(line.step), *line.val_loss);
  }
  std::string out =
      cat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", fixed(width, 0), " ", fixed(height, 0),
          "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  double last_step = 1, highest = 0;
  for (const Points* points : {&train, &val})
    for (const auto& [step, loss] : *points)
      last_step = std::max(last_step, step), highest = std::max(highest, loss);
  const double loss_tick = tick_step(highest > 0 ? highest : 1);
  const double step_tick = std::max(1.0, tick_step(last_step));
  const Axis x{0, last_step, left, width - right};
  const Axis y{0, std::ceil((highest > 0 ? highest : 1) / loss_tick) * loss_tick, height - bottom, top};
  for (double v = 0; v <= y.high * 1.0001; v += loss_tick) {
    out += cat("<line x1=\"", fixed(left, 0), "\" x2=\"", fixed(width - right, 0), "\" y1=\"", fixed(y(v), 1),
               "\" y2=\"", fixed(y(v), 1), "\" stroke=\"#ddd\"/>\n");
    out += text(left - 8, y(v) + 4, "end", general(std::round(v * 1e6) / 1e6));
  }
  for (double v = 0; v <= last_step * 1.0001; v += step_tick)
    out += text(x(v), height - bottom + 18, "middle", general(v));
  out += text((left + width - right) / 2, height - 10, "middle", "step");
  out += curve(train, x, y, "#1f77b4") + curve(val, x, y, "#d62728");
  out += text(width - right, 24, "end",
              val.empty()
                  ? "<tspan fill=\"#1f77b4\">train_loss</tspan>"
                  : "<tspan fill=\"#1f77b4\">train_loss</tspan> <tspan fill=\"#d62728\">val_loss</tspan>");
  return out + "</svg>\n";
}

}  // namespace llmtool
