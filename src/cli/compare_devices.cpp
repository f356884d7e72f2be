// A GPU against the CPU, operation by operation; see gpus.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cat.h"
#include "base/rng.h"
#include "cli/device_limits.h"
#include "cli/gpus.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/unary.h"
#include "tensor/autograd.h"

namespace llmtool {
namespace {

constexpr double epsilon = static_cast<double>(std::numeric_limits<float>::epsilon());

double largest_difference(const std::vector<float>& x, const std::vector<float>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    if (!(difference <= largest)) largest = difference;  // NaN stays
    if (std::isnan(largest)) break;
  }
  return largest;
}

}  // namespace

Comparison compare(const DeviceWork& work, Device& gpu, Device* cpu) {
  const NoGrad no_grad;
  Comparison c;
  c.what = work.what;
  c.allowed = work.allowed;
  c.flops = work.flops;
  const auto values = [](const Shape& shape, std::string_view name) {
    const Stream random(7, name);
    std::vector<float> v(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(random.uniform(i) * 2 - 1);
    return v;
  };
  const auto va = values(work.a, "a"), vb = values(work.b, "b");
  std::vector<std::vector<float>> results;
  for (Device* const device : {&gpu, cpu}) {
    if (device == nullptr) continue;
    const Tensor a = Tensor::of(*device, work.a, va), b = Tensor::of(*device, work.b, vb);
    const Tensor y = work.run(a, b);
    if (cpu != nullptr) results.push_back(y.to_host());
    (device == &gpu ? c.gpu_seconds : c.cpu_seconds) = best_seconds(*device, [&] { work.run(a, b); });
    c.bytes = static_cast<double>(a.view().bytes + b.view().bytes + y.view().bytes);
  }
  if (cpu != nullptr) c.difference = largest_difference(results[0], results[1]);
  return c;
}

std::vector<DeviceWork> elementwise_works(std::int64_t n, const std::string& count) {
  const Shape flat{n}, one{1};
  const auto flops = static_cast<double>(n);
  return {
      {"scale of " + count, flat, one, [](const Tensor& a, const Tensor&) { return a * 1.7f; }, flops,
       2 * epsilon},
      {"relu of " + count, flat, one, [](const Tensor& a, const Tensor&) { return ops::relu(a); }, flops, 0},
      {"add of " + count, flat, flat, [](const Tensor& a, const Tensor& b) { return a + b; }, flops,
       2 * epsilon}};
}

std::vector<Comparison> compare_devices(Device& gpu, Device& cpu) {
  // A sum of k products of values in [-1, 1): both devices are off by at most about k epsilon, each.
  const auto product = [](const Tensor& a, const Tensor& b) { return ops::matmul(a, b); };
  std::vector<DeviceWork> works = {
      {"matmul 512 x 512 x 512", {512, 512}, {512, 512}, product, 2.0 * 512 * 512 * 512, 512 * epsilon},
      {"matmul 16 times 128 x 128 x 64",
       {16, 128, 64},
       {16, 64, 128},
       product,
       2.0 * 16 * 128 * 128 * 64,
       64 * epsilon},
  };
  for (DeviceWork& work : elementwise_works(1 << 20, "1,048,576")) works.push_back(std::move(work));
  std::vector<Comparison> comparisons;
  for (const DeviceWork& work : works) comparisons.push_back(compare(work, gpu, &cpu));
  return comparisons;
}

std::string text_of(const Comparison& c) {
  const bool product = c.flops > c.bytes;
  const auto rate = [&](double seconds) { return fixed((product ? c.flops : c.bytes) / seconds * 1e-9, 1); };
  return cat(c.what, " | largest difference ", fixed(c.difference, 8), " (at most ", fixed(c.allowed, 8),
             ") | ", fixed(c.gpu_seconds * 1e3, 3), " ms, CPU ", fixed(c.cpu_seconds * 1e3, 3), " ms | ",
             rate(c.gpu_seconds), ", CPU ", rate(c.cpu_seconds), product ? " GFLOP/s" : " GB/s");
}

}  // namespace llmtool
