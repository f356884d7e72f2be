// Bench: matrix products in all forms, and elementwise operations; see bench.h.
#include <limits>
#include <vector>

#include "base/error.h"
#include "cli/bench.h"
#include "cli/gpus.h"
#include "device/matmul_params.h"

namespace llmtool {
namespace {

constexpr double epsilon = static_cast<double>(std::numeric_limits<float>::epsilon());

/// c = op(a) op(b) of `batch` matrices in one of the three forms, as training uses them.
DeviceWork product(const std::string& use, std::uint32_t form, std::uint32_t batch, std::uint32_t m,
                   std::uint32_t n, std::uint32_t k) {
  const MatmulParams p = dense_matmul(form, m, n, k, batch);
  const char* const name = form == LLMTOOL_MATMUL_NN ? "NN " : form == LLMTOOL_MATMUL_NT ? "NT " : "TN ";
  DeviceWork work;
  work.what = cat(use, " ", name, batch > 1 ? cat(batch, " times ") : "", m, " x ", n, " x ", k);
  work.a = {batch, std::int64_t{m} * k};
  work.b = {batch, std::int64_t{n} * k};
  work.flops = 2.0 * batch * m * n * k;
  work.allowed = k * epsilon;  // both devices are off by at most about k epsilon for values in [-1, 1)
  work.run = [p](const Tensor& a, const Tensor& b) {
    Device& device = a.device();
    const Tensor c = Tensor::empty(device, {std::int64_t{p.batch0}, std::int64_t{p.m}, std::int64_t{p.n}});
    launch<KernelId::matmul>(device, {a.view(), b.view(), View{}, View{}, c.view()}, p);
    return c;
  };
  return work;
}

/// Square products, the products of a layer of width `c` over `t` tokens, and attention's without its kernel.
std::vector<DeviceWork> products(std::uint32_t square, std::uint32_t t, std::uint32_t c) {
  constexpr std::uint32_t nn = LLMTOOL_MATMUL_NN, nt = LLMTOOL_MATMUL_NT, tn = LLMTOOL_MATMUL_TN;
  return {product("square", nn, 1, square, square, square),
          product("square", nt, 1, square, square, square),
          product("square", tn, 1, square, square, square),
          product("q, k, v", nt, 1, t, 3 * c, c),
          product("mlp up", nt, 1, t, 4 * c, c),
          product("mlp down", nt, 1, t, c, 4 * c),
          product("d input", nn, 1, t, c, 3 * c),
          product("d weight", tn, 1, 3 * c, c, t),
          product("batched", nt, 16, t / 4, t / 4, c / 8),
          product("batched", nn, 16, t / 4, c / 8, t / 4)};
}

}  // namespace

void bench_gemm(const Bench& bench) {
  std::string wrong;
  const auto measure = [&](const DeviceWork& work, bool arithmetic) {
    const Comparison c = compare(work, bench.device, bench.cpu);
    const double amount = arithmetic ? c.flops : c.bytes;
    BenchFigure f{"gemm",
                  c.what,
                  1e-9 * amount / c.gpu_seconds,
                  arithmetic ? "GFLOP/s" : "GB/s",
                  arithmetic ? bench.limits.gflops : bench.limits.gbytes,
                  arithmetic ? bench.limits.of_flops : bench.limits.of_bytes,
                  "",
                  {{"seconds", c.gpu_seconds}}};
    if (bench.cpu != nullptr) {
      f.note = cat("CPU ", fixed(1e-9 * amount / c.cpu_seconds, 2), " | largest difference ",
                   fixed(c.difference, 8), " (at most ", fixed(c.allowed, 8), ")");
      f.more["cpu_seconds"] = c.cpu_seconds;
      f.more["largest_difference"] = c.difference;
      f.more["allowed"] = c.allowed;
      if (!c.fits() && wrong.empty()) wrong = cat(c.what, ": ", f.note);
    }
    bench.report(f);
  };
  const bool slow = bench.limits.slow() && bench.cpu != nullptr;
  for (const DeviceWork& work : slow ? products(128, 64, 64) : products(512, 512, 768)) measure(work, true);
  const std::int64_t n = slow ? 1 << 18 : 1 << 24;
  for (const DeviceWork& work : elementwise_works(n, cat(n))) measure(work, false);
  if (!wrong.empty()) {
    throw world_error(cat("[bench] ", bench.device.name(), " computes something else than the CPU: ", wrong),
                      "use --device cpu");
  }
}

}  // namespace llmtool
