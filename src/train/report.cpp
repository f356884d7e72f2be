// The page about a run, put together from strings; see report.h.
#include "train/report.h"

#include <utility>
#include <vector>

#include "base/cat.h"
#include "base/utf8.h"
#include "train/line_plot.h"

namespace llmtool {

namespace {

constexpr const char* style = R"(
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
  th, td { text-align: left; padding: .15rem 1.2rem .15rem 0; vertical-align: top; }
  .log td, .log th { text-align: right; }
  th { font-weight: 600; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; border-radius: 6px; padding: .8rem; }
  .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
  figure { margin: 0; } figure svg { width: 100%; height: auto; border-radius: 6px; }
)";

using Row = std::pair<std::string, std::string>;

std::string device_text(const Device& device) {
  const DeviceCaps& caps = device.caps();
  if (!caps.description.empty()) return cat(device.name(), ", ", caps.description);
  return cat(device.name(), ", ", caps.simd, ", ", caps.threads, caps.threads == 1 ? " thread" : " threads");
}

std::vector<Row> facts(const RunReport& report, std::span<const LogLine> lines) {
  const TrainPlan& plan = report.plan;
  const TrainConfig& c = plan.request.config;
  const TrainerState& state = report.state;
  const auto train = plan.data.dataset.train().size(), val = plan.data.dataset.val().size();
  const double seen = static_cast<double>(plan.size.tokens_per_step) * static_cast<double>(state.step);
  std::vector<Row> rows = {
      {"model", cat(plan.size.parameters, " parameters: ", c.model.n_layer, " layers, ", c.model.n_head,
                    " heads, ", c.model.n_embd, " wide, block ", c.model.block_size)},
      {"tokenizer", cat(plan.data.tokenizer->type(), ", vocabulary ", plan.data.tokenizer->vocab_size())},
      {"data", cat(train, " training tokens, ", val, " held out")},
      {"device", device_text(report.device)},
      {"steps", cat(state.step, " of ", c.train.steps, ", ", plan.size.tokens_per_step, " tokens each; ",
                    fixed(seen / static_cast<double>(train), 2), " passes over the training tokens")}};
  if (state.skipped_steps > 0)
    rows.emplace_back("skipped steps", cat(state.skipped_steps, " without a finite gradient"));
  if (!lines.empty()) {
    rows.emplace_back("train_loss", fixed(lines.back().train_loss, 4));
    rows.emplace_back("speed", cat(short_number(lines.back().tokens_per_second), " tokens/s"));
  }
  if (state.best_val_loss)
    rows.emplace_back("best val_loss", cat(fixed(*state.best_val_loss, 4), " at step ", state.best_step));
  if (const auto& e = report.evaluation) {
    rows.emplace_back("whole held-out part",
                      cat("val_loss ", fixed(e->loss, 4), ", perplexity ", fixed(e->perplexity(), 3),
                          ", bits per byte ", fixed(e->bits_per_byte(), 3)));
  }
  return rows;
}

std::string figure(const std::string& svg) { return cat("<figure>\n", svg, "</figure>\n"); }

std::string plots(std::span<const LogLine> lines) {
  const auto one = [&](const char* name, const char* colour, double LogLine::*member) {
    return figure(line_plot(std::vector<Series>{
        series_of(name, colour, lines, [&](const LogLine& line) { return std::optional(line.*member); })}));
  };
  return cat("<div class=\"plots\">\n", figure(loss_svg(lines)), one("lr", "#2a8a4a", &LogLine::lr),
             one("grad_norm", "#b8860b", &LogLine::grad_norm),
             one("tokens per second", "#7050a0", &LogLine::tokens_per_second), "</div>\n");
}

std::string log_table(std::span<const LogLine> lines) {
  std::string out =
      "<table "
      "class=\"log\">\n<tr><th>step</th><th>lr</th><th>train_loss</th><th>val_loss</th><th>grad_norm</th>"
      "<th>tokens/s</th></tr>\n";
  for (const LogLine& line : lines) {
    out += cat("<tr><td>", line.step, "</td><td>", fixed(line.lr, 6), "</td><td>", fixed(line.train_loss, 4),
               "</td><td>", line.val_loss ? fixed(*line.val_loss, 4) : "", "</td><td>",
               fixed(line.grad_norm, 4), "</td><td>", fixed(line.tokens_per_second, 0), "</td></tr>\n");
  }
  return out + "</table>\n";
}

}  // namespace

std::string html_text(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    const bool control =
        (c.value < 0x20 && c.value != '\n' && c.value != '\t') || (c.value >= 0x7F && c.value < 0xA0);
    const bool noncharacter = (c.value & 0xFFFE) == 0xFFFE || (c.value >= 0xFDD0 && c.value <= 0xFDEF);
    if (c.length == 0 || control || noncharacter) {
      append_utf8(out, 0xFFFD);
    } else if (c.value == '&') {
      out += "&amp;";
    } else if (c.value == '<') {
      out += "&lt;";
    } else if (c.value == '>') {
      out += "&gt;";
    } else if (c.value == '"') {
      out += "&quot;";
    } else {
      out.append(bytes, at, static_cast<std::size_t>(c.length));
    }
    at += static_cast<std::size_t>(c.length > 0 ? c.length : 1);
  }
  return out;
}

std::string report_html(const RunReport& report, std::span<const LogLine> lines) {
  const std::string title = html_text(cat("Training run ", report.plan.request.out.native()));
  std::string out =
      cat("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          title, "</title>\n<style>", style, "</style>\n<h1>", title, "</h1>\n<table>\n");
  for (const auto& [name, value] : facts(report, lines))
    out += cat("<tr><th>", name, "</th><td>", html_text(value), "</td></tr>\n");
  out += cat("</table>\n<h2>Curves</h2>\n", plots(lines));
  if (!report.sample.empty()) out += cat("<h2>Sample</h2>\n<pre>", html_text(report.sample), "</pre>\n");
  out += cat("<h2>Log</h2>\n<details><summary>", lines.size(), " lines</summary>\n", log_table(lines),
             "</details>\n");
  out += cat("<h2>Configuration</h2>\n<details><summary>config.json</summary>\n<pre>",
             html_text(resolved_json(report.plan.request.config)), "</pre></details>\n");
  return out + "</html>\n";
}

}  // namespace llmtool
