// The matrix product against the machine's highest rate of multiply-adds, on 1 and 2 threads. Both are
// measured in turn, several times, and the best times of each are compared, so that other work on the machine
// disturbs little. bench_matmul [repeats]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cpu/peak.h"
#include "kernels/matmul_support.h"

using namespace llmtool;

namespace {

struct Shape {
  const char* use;
  std::uint32_t form, m, n, k, batch;
};
constexpr std::uint32_t nn = LLMTOOL_MATMUL_NN, nt = LLMTOOL_MATMUL_NT, tn = LLMTOOL_MATMUL_TN;
constexpr Shape shapes[] = {
    {"square", nn, 512, 512, 512, 1},   {"square", nt, 512, 512, 512, 1},  {"square", tn, 512, 512, 512, 1},
    {"large", nt, 1024, 1024, 1024, 1}, {"q, k, v", nt, 768, 384, 128, 1}, {"mlp up", nt, 768, 512, 128, 1},
    {"mlp down", nt, 768, 128, 512, 1}, {"d input", nn, 768, 128, 384, 1}, {"d weight", tn, 512, 128, 768, 1},
    {"d weight", tn, 128, 512, 768, 1}, {"small", nt, 256, 64, 64, 1},     {"small", nt, 256, 192, 64, 1},
    {"small", nt, 256, 256, 64, 1},     {"head", nt, 768, 65, 128, 1},     {"d head", tn, 65, 128, 768, 1},
    {"head", nt, 256, 50257, 64, 1},    {"scores", nt, 32, 32, 16, 128},   {"values", nn, 32, 16, 32, 128},
    {"d keys", tn, 32, 16, 32, 128},    {"decode", nt, 1, 384, 128, 1},    {"decode", nt, 1, 4096, 4096, 1},
    {"decode", nt, 4, 4096, 4096, 1},   {"decode", nt, 8, 4096, 4096, 1},  {"decode", nt, 16, 4096, 4096, 1},
};

double seconds_of(const test::BoundMatmul& product, int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) product.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

void bench(const Shape& s, cpu::SimdLevel level, ThreadPool& pool, int repeats) {
  test::MatmulCase t = test::MatmulCase::make(s.form, s.m, s.n, s.k, 0, s.batch);
  cpu::CpuContext context(pool);
  const test::BoundMatmul product(t, level, context);
  const double once = std::min(seconds_of(product, 1), seconds_of(product, 1));
  const int times = std::max(1, static_cast<int>(2e-3 / once));
  std::vector<double> all, peaks;
  for (int r = 0; r < repeats; ++r) {
    peaks.push_back(cpu::measure_fma_peak_gflops(pool, level, 2));
    all.push_back(seconds_of(product, times));
  }
  std::sort(all.begin(), all.end());
  std::sort(peaks.begin(), peaks.end());
  const double best = all.front(), median = all[all.size() / 2];
  const double peak = peaks.back(), median_peak = peaks[peaks.size() / 2];
  const double flops = 2.0 * s.m * s.n * s.k * s.batch;
  const double weights = s.m <= 16 ? 4.0 * s.n * s.k * 1e-9 / best : 0;
  static const char* const names[] = {"NN", "NT", "TN"};
  std::printf(
      "%-9s %s %5u x %5u x %4u x %3u  %d threads  best %10.1f us %6.1f GFLOP/s %5.1f %% of %.1f"
      "  median %10.1f us %6.1f GFLOP/s %5.1f %% of %.1f",
      s.use, names[s.form], s.m, s.n, s.k, s.batch, pool.size(), best * 1e6, flops / best * 1e-9,
      flops / best * 1e-7 / peak, peak, median * 1e6, flops / median * 1e-9,
      flops / median * 1e-7 / median_peak, median_peak);
  if (weights > 0) std::printf("  weights %.1f GB/s", weights);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const cpu::SimdLevel level = cpu::choose_level_from_environment();
  ThreadPool one(1), two(2);
  std::printf("level %s\n", std::string(cpu::name_of(level)).c_str());
  for (const Shape& s : shapes) {
    if (argc > 2 && std::string(argv[2]) != s.use) continue;
    bench(s, level, one, repeats);
    bench(s, level, two, repeats);
  }
  return 0;
}
