// `llmtool bench [all|gemm|train|generate|tokenize]`: how fast, and beside what limit. Not here: the parts.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/interrupt.h"
#include "cli/app.h"
#include "cli/bench.h"
#include "cli/common_flags.h"
#include "cli/output.h"

namespace llmtool {

void Bench::report(const BenchFigure& f) const {
  throw_if_interrupted();
  const double fraction = f.limit > 0 ? f.value / f.limit : 0;
  if (json) {
    Json line = {{"bench", f.part},  {"what", f.what},         {"value", f.value},    {"unit", f.unit},
                 {"limit", f.limit}, {"limit_is", f.limit_is}, {"fraction", fraction}};
    line.update(f.more);
    return print_line(to_json_line(line));
  }
  const std::string gap(f.what.size() < 40 ? 40 - f.what.size() : 0, ' ');
  const std::string indent(f.part.size() < 8 ? 8 - f.part.size() : 0, ' ');
  print_line(cat(f.part, indent, " | ", f.what, gap, " | ", fixed(f.value, 2), " ", f.unit, ", ",
                 fixed(100 * fraction, 1), " % of ", fixed(f.limit, 1), " (", f.limit_is, ")",
                 f.note.empty() ? "" : " | ", f.note));
}

namespace {

struct BenchFlags {
  CommonFlags common;
  std::string part = "all";
};

void run_bench(const BenchFlags& flags) {
  flags.common.apply();
  require_part("bench", flags.part, {"all", "gemm", "train", "generate", "tokenize"});
  const auto wanted = [&](const char* part) { return flags.part == "all" || flags.part == part; };
  const std::unique_ptr<Device> cpu = open_device("cpu", flags.common.threads);
  if (flags.part == "tokenize") {  // needs no device
    return bench_tokenize({*cpu, nullptr, measure_limits(*cpu), flags.common.json});
  }
  std::unique_ptr<Device> device =
      open_device(flags.common.device.empty() ? "auto" : flags.common.device, flags.common.threads);
  const bool is_cpu = device->name() == "cpu";
  const Bench bench{*device, is_cpu ? nullptr : cpu.get(), measure_limits(*device), flags.common.json};
  const DeviceLimits& l = bench.limits;
  if (!bench.json) {
    print_line(cat("device ", device->name(), " | ", fixed(l.gflops, 1), " GFLOP/s (", l.of_flops, ") | ",
                   fixed(l.gbytes, 1), " GB/s (", l.of_bytes, ")", l.slow() ? " | small sizes" : ""));
  }
  if (wanted("gemm")) bench_gemm(bench);
  if (wanted("train")) bench_train(bench);
  if (wanted("generate")) bench_generate(bench);
  if (wanted("tokenize")) {
    bench_tokenize({*cpu, nullptr, is_cpu ? bench.limits : measure_limits(*cpu), flags.common.json});
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      app.add_subcommand("bench", "measure speed, each figure beside the limit it is held against");
  command->add_option("part", flags->part, "all, gemm, train, generate or tokenize");
  flags->common.add_compute(*command);
  flags->common.add_output(*command);
  command->callback([flags] { run_bench(*flags); });
}

}  // namespace llmtool
