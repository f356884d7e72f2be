// The matrix product on a Vulkan device: time and rate of the shapes that training and decoding a small GPT
// use, with launches enough in one submission that sending it does not count. Smaller tiles can be measured
// by forcing small limits (LLMTOOL_VK_MAX_SHARED, LLMTOOL_VK_MAX_INVOCATIONS). bench_vulkan_matmul [GFLOP a
// shape]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "device/matmul_params.h"
#include "device/pool.h"
#include "vulkan/vulkan_device.h"

using namespace llmtool;

namespace {

struct Shape {
  const char* use;
  std::uint32_t form, m, n, k, batch;
};
constexpr std::uint32_t nn = LLMTOOL_MATMUL_NN, nt = LLMTOOL_MATMUL_NT, tn = LLMTOOL_MATMUL_TN;
constexpr Shape shapes[] = {
    {"square", nn, 4096, 4096, 4096, 1}, {"square", nt, 4096, 4096, 4096, 1},
    {"square", tn, 4096, 4096, 4096, 1}, {"square", nn, 1024, 1024, 1024, 1},
    {"square", nn, 256, 256, 256, 1},    {"q, k, v", nt, 8192, 2304, 768, 1},
    {"mlp up", nt, 8192, 3072, 768, 1},  {"mlp down", nt, 8192, 768, 3072, 1},
    {"d input", nn, 8192, 768, 2304, 1}, {"d weight", tn, 2304, 768, 8192, 1},
    {"d weight", tn, 768, 768, 8192, 1}, {"d weight", tn, 384, 128, 8192, 1},
    {"head", nt, 1024, 50257, 768, 1},   {"d head", tn, 50257, 768, 1024, 1},
    {"scores", nt, 256, 256, 64, 96},    {"decode", nt, 1, 3072, 768, 1},
    {"decode", nt, 1, 50257, 768, 1},    {"decode", nt, 8, 50257, 768, 1},
};

View filled(Device& device, const Allocation& a, std::uint64_t elements) {
  const View view{a.block, a.offset, elements * 4, DType::f32};
  device.fill(view, 0x3f000000);  // 0.5
  return view;
}

void bench(Device& device, const Shape& s, double gflop) {
  const MatmulParams p = dense_matmul(s.form, s.m, s.n, s.k, s.batch);
  const std::uint64_t a = std::uint64_t{s.batch} * s.m * s.k, b = std::uint64_t{s.batch} * s.n * s.k,
                      c = std::uint64_t{s.batch} * s.m * s.n;
  const Allocation rooms[] = {device.pool().take(4 * a), device.pool().take(4 * b),
                              device.pool().take(4 * c)};
  const View views[] = {filled(device, rooms[0], a), filled(device, rooms[1], b), View{}, View{},
                        filled(device, rooms[2], c)};
  const auto seconds_of = [&](int times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) device.launch(KernelId::matmul, views, &p, sizeof p);
    device.synchronise();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
  };
  const double flops = 2.0 * s.m * s.n * s.k * s.batch;
  seconds_of(1);  // compiles the shader
  const int times = std::clamp(static_cast<int>(gflop * 1e9 / flops), 1, 1000);
  const double seconds = std::min(seconds_of(times), seconds_of(times));
  static const char* const names[] = {"NN", "NT", "TN"};
  std::printf("%-9s %s %5u x %5u x %4u x %2u  %9.1f us  %9.1f GFLOP/s  %7.1f GB/s\n", s.use, names[s.form],
              s.m, s.n, s.k, s.batch, seconds * 1e6, flops / seconds * 1e-9,
              4.0 * static_cast<double>(a + b + c) / seconds * 1e-9);
  std::fflush(stdout);
  for (const Allocation& room : rooms) device.pool().give(room);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const double gflop = argc > 1 ? std::atof(argv[1]) : 500;
    const auto device = make_vulkan_device();
    std::printf("%s\n", device->caps().description.c_str());
    for (const Shape& s : shapes) {
      if (2e-9 * s.m * s.n * s.k * s.batch <= gflop) bench(*device, s, gflop);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
