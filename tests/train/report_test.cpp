// report.html: what the page holds, and that nothing in it can become markup.
#include "train/report.h"

#include "cpu/cpu_device.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "support/text.h"

using namespace llmtool;

TEST_CASE("text of a page is escaped, and bytes that are no text are replaced") {
  CHECK(html_text("a<b>&\"c\"\n\t\xc3\xa9") == "a&lt;b&gt;&amp;&quot;c&quot;\n\t\xc3\xa9");
  CHECK(html_text(std::string("\x00\x1b[1m\xff", 6)) == "\xef\xbf\xbd\xef\xbf\xbd[1m\xef\xbf\xbd");
  CHECK(html_text("\xc2\x85") == "\xef\xbf\xbd");
  CHECK(html_text("\xef\xbf\xbf") == "\xef\xbf\xbd");
  CHECK(html_text("").empty());
}

TEST_CASE("the page of a run holds its numbers, curves, sample, log and configuration") {
  const TempDir dir;
  TrainRequest request;
  request.config = load_train_config("", {"data.val_fraction=0.2", "train.steps=50"});
  request.out = dir.path() / "a<script>b";
  const TrainPlan plan = plan_training(std::move(request), true);
  const auto device = make_cpu_device(1);
  TrainerState state;
  state.step = 50;
  state.best_step = 40;
  state.best_val_loss = 2.25;
  state.skipped_steps = 3;
  Evaluation evaluation;
  evaluation.loss = 2.3;
  evaluation.tokens = evaluation.bytes = 10;
  LogLine line;
  line.step = 50;
  line.train_loss = 1.23456;
  line.val_loss = 2.3;
  line.tokens_per_second = 41234;
  const std::string page = report_html({plan, *device, state, evaluation, "The <fox> & \xff"}, {&line, 1});
  CHECK(page.rfind("<!doctype html>", 0) == 0);
  CHECK(count_of(page, "<script") == 0);
  CHECK(count_of(page, "<svg ") == 4);
  for (const char* part : {"a&lt;script&gt;b", "102336 parameters", "char, vocabulary",
                           "50 of 50, 256 tokens each", "cpu, ", "2.2500 at step 40", "val_loss 2.3000",
                           "3 without a finite gradient", "<pre>The &lt;fox&gt; &amp; \xef\xbf\xbd</pre>",
                           "<td>1.2346</td>", "41.2k tokens/s", "&quot;val_fraction&quot;: 0.2"}) {
    INFO(part);
    CHECK(count_of(page, part) >= 1);
  }
  for (const char* tag : {"table", "tr", "td", "th", "h2", "pre", "figure", "details", "svg", "div"}) {
    INFO(tag);
    CHECK(count_of(page, std::string("<") + tag + ">") + count_of(page, std::string("<") + tag + " ") ==
          count_of(page, std::string("</") + tag + ">"));
  }
  // Before the end there is neither evaluation nor sample.
  const std::string early = report_html({plan, *device, TrainerState(), {}, {}}, {});
  CHECK(count_of(early, "<h2>Sample") == 0);
  CHECK(count_of(early, "whole held-out part") == 0);
  CHECK(count_of(early, "nan") == 0);
}
