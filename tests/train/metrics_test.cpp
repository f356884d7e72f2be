// Log lines as text and JSON, metrics.jsonl through a resume, and the plot of them.
#include "train/metrics.h"

#include <cmath>

#include "base/files.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "support/text.h"
#include "train/line_plot.h"

using namespace llmtool;

namespace {

LogLine line_of(std::uint64_t step, double loss, std::optional<double> val = {}) {
  LogLine line;
  line.step = step;
  line.lr = 0.0029471;
  line.train_loss = loss;
  line.val_loss = val;
  line.grad_norm = 0.826;
  line.tokens_per_second = 41234;
  return line;
}

}  // namespace

TEST_CASE("a log line as text") {
  CHECK(to_text(line_of(100, 1.45971, 1.5123)) ==
        "step   100 | lr 0.002947 | train_loss 1.4597 | val_loss 1.5123 | grad_norm 0.83 | 41.2k tok/s");
  LogLine line = line_of(1234567, 3.5);
  line.grad_norm = 0.00123;
  line.tokens_per_second = 950;
  CHECK(to_text(line) == "step 1234567 | lr 0.002947 | train_loss 3.5000 | grad_norm 0.0012 | 950 tok/s");
  CHECK(short_number(1.26e6) == "1.3M");
  Evaluation e;
  e.loss = 1.5098;
  e.tokens = 10;
  e.bytes = 10;
  CHECK(final_text(e) == "final | val_loss 1.5098 | perplexity 4.526 | bits_per_byte 2.178");
}

TEST_CASE("a log line as JSON, with null where a number is not finite") {
  CHECK(to_json(line_of(3, 1.5)) ==
        R"({"step":3,"lr":0.0029471,"train_loss":1.5,"grad_norm":0.826,"tokens_per_second":41234.0})");
  CHECK(to_json(line_of(3, std::nan(""))).find(R"("train_loss":null)") != std::string::npos);
}

TEST_CASE("metrics.jsonl is begun anew, gone on with, or cut back to a step") {
  const TempDir dir;
  const Path path = dir.path() / "metrics.jsonl";
  {
    MetricsFile file(path, 0);
    for (const std::uint64_t step : {1, 10, 20, 30})
      file.append(line_of(step, 1.0 / static_cast<double>(step)));
  }
  const std::string whole = read_file(path);
  CHECK(count_of(whole, "\n") == 4);
  {
    // A crash cut the last line off.
    write_file_atomic(path, whole + R"({"step":40,"lr")");
    MetricsFile file(path, 40);
    CHECK(file.lines().size() == 4);
    CHECK(read_file(path) == whole);
  }
  {
    MetricsFile file(path, 25);
    REQUIRE(file.lines().size() == 3);
    CHECK(file.lines()[2].step == 20);
    CHECK(file.lines()[2].train_loss == 0.05);
    file.append(line_of(30, 1.0 / 30));
  }
  CHECK(read_file(path) == whole);
  {
    // Lines that are no log lines are dropped, those around them kept.
    const std::size_t second = whole.find('\n') + 1;
    write_file_atomic(path, whole.substr(0, second) + "{]\n5\n{\"step\":1e300}\n\n" + whole.substr(second));
    const MetricsFile file(path, 40);
    CHECK(file.lines().size() == 4);
    CHECK(read_file(path) == whole);
  }
  const MetricsFile anew(path, 0);
  CHECK(read_file(path).empty());
}

TEST_CASE("the plot is one well-formed picture, whatever the numbers") {
  const std::vector<LogLine> lines = {line_of(1, 3.5, 3.6), line_of(100, std::nan(""), 2.0),
                                      line_of(200, 1.0, 1.1)};
  const std::string svg = loss_svg(lines);
  CHECK(svg.rfind("<svg ", 0) == 0);
  CHECK(svg.find("</svg>") == svg.size() - 7);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(count_of(svg, "<circle") == 5);
  CHECK(count_of(svg, "<text") == count_of(svg, "</text>"));
  CHECK(count_of(svg, "<tspan") == count_of(svg, "</tspan>"));
  CHECK(count_of(svg, "\"") % 2 == 0);
  for (const char* tick : {">1<", ">2<", ">3<", ">4<", ">50<", ">100<", ">150<", ">200<"})
    CHECK(count_of(svg, tick) == 1);
  const std::string rates = line_plot(std::vector<Series>{{"lr", "#000", {{0, 0.0011}, {250000, 0.003}}}});
  for (const char* tick : {">0.001<", ">0.002<", ">0.003<", ">100000<", ">250000<"})
    CHECK(count_of(rates, tick) == 1);
  for (const std::vector<LogLine>& few :
       {std::vector<LogLine>{}, {line_of(1, 0)}, {line_of(1, 1e300)}, {line_of(1, std::nan(""))}}) {
    const std::string small = loss_svg(few);
    CHECK(small.find("nan") == std::string::npos);
    CHECK(small.find("inf") == std::string::npos);
    CHECK(small.size() < 20000);
  }
}
