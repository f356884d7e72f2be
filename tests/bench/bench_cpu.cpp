// Throughput of the CPU kernels other than the matrix product, on one and two threads: GB/s of the bytes a
// kernel must move, GFLOP/s for attention. Not a test: build the target bench_cpu and run it.
#include <chrono>
#include <cstdio>
#include <functional>

#include "kernels/cpu_support.h"

using namespace llmtool;
using namespace llmtool::test;

namespace {

std::vector<float> numbers(std::size_t n) {
  std::vector<float> v(n);
  std::uint32_t s = 1;
  for (float& x : v) {
    s = s * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<std::int32_t>(s) >> 8) * 0x1p-23f;
  }
  return v;
}

/// Best of the runs that fit into a tenth of a second.
double seconds(const std::function<void()>& f) {
  using clock = std::chrono::steady_clock;
  f();
  double best = 1e9, total = 0;
  while (total < 0.1) {
    const auto begin = clock::now();
    f();
    const double t = std::chrono::duration<double>(clock::now() - begin).count();
    best = std::min(best, t);
    total += t;
  }
  return best;
}

template <class Params>
void report(const char* name, KernelId id, std::vector<View> views, const Params& params, double work,
            const char* unit) {
  const auto& row = cpu::kernel_table()[cpu::choose_level_from_environment()];
  std::printf("%-28s", name);
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    cpu::CpuContext context(pool);
    const double s = seconds([&] { row[id](context, views, &params); });
    std::printf("%9.2f", work / s * 1e-9);
  }
  std::printf("  %s\n", unit);
  std::fflush(stdout);
}

void attention(std::uint32_t batch, std::uint32_t tokens, std::uint32_t heads, std::uint32_t size) {
  AttentionParams p{};
  p.batch = batch;
  p.tokens = p.keys = tokens;
  p.heads = p.kv_heads = heads;
  p.head_size = size;
  p.q_row = p.kv_row = heads * size;
  p.q_batch = p.kv_batch = tokens * p.q_row;
  p.scale = 0.1f;
  const std::size_t n = std::size_t{batch} * tokens * heads * size;
  auto q = numbers(n), k = numbers(n), v = numbers(n), out = numbers(n), dq = numbers(n), dk = numbers(n),
       dv = numbers(n);
  std::vector<float> stats(std::size_t{batch} * tokens * heads * 2);
  const VectorView q_(q), k_(k), v_(v), out_(out), stats_(stats), dq_(dq), dk_(dk), dv_(dv);
  // A multiply-add counts two; each product covers the causal half.
  const double product = 2.0 * batch * heads * tokens * (tokens + 1) / 2 * size;
  std::printf("attention %ux%u, %u heads of %u\n", batch, tokens, heads, size);
  report("  forward", KernelId::attention, {q_, k_, v_, View{}, out_, stats_}, p, 2 * product, "GFLOP/s");
  report("  backward_q", KernelId::attention_backward_q, {q_, k_, v_, stats_, out_, View{}, dq_}, p,
         3 * product, "GFLOP/s");
  report("  backward_kv", KernelId::attention_backward_kv, {q_, k_, v_, stats_, out_, View{}, dk_, dv_}, p,
         4 * product, "GFLOP/s");
}

}  // namespace

int main() {
  std::printf("%-28s%9s%9s\n", "", "1 thread", "2");
  const std::uint32_t rows = 2048, cols = 384, n = rows * cols;
  const double bytes = 4.0 * n;
  auto x = numbers(n), y = numbers(n), z = numbers(n), m = numbers(n), s = numbers(n), gain = numbers(cols),
       bias = numbers(cols);
  for (float& v : s) v = v * v;
  std::vector<float> stats(2 * rows), loss(rows), scale{1.0f};
  std::vector<std::int32_t> targets(rows, 3);
  const VectorView x_(x), y_(y), z_(z), m_(m), s_(s), gain_(gain), bias_(bias), stats_(stats), loss_(loss),
      scale_(scale);
  const VectorView targets_(targets);
  report("add", KernelId::add, {x_, y_, z_}, BroadcastParams{n, {1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 1}, 0},
         3 * bytes, "GB/s");
  report("add, bias", KernelId::add, {x_, gain_, z_},
         BroadcastParams{n, {1, 1, rows, cols}, {0, 0, cols, 1}, {0, 0, 0, 1}, 0}, 2 * bytes, "GB/s");
  const UnaryParams u{n, 0, 0, 0};
  report("exp", KernelId::exp, {x_, y_}, u, 2 * bytes, "GB/s");
  report("tanh", KernelId::tanh, {x_, y_}, u, 2 * bytes, "GB/s");
  report("gelu", KernelId::gelu, {x_, y_}, u, 2 * bytes, "GB/s");
  report("gelu_backward", KernelId::gelu_backward, {x_, y_, z_}, u, 3 * bytes, "GB/s");
  report("gelu_exact", KernelId::gelu_exact, {x_, y_}, u, 2 * bytes, "GB/s");
  const NormParams norm{rows, cols, 1e-5f, 0};
  report("layer_norm", KernelId::layer_norm, {x_, gain_, bias_, y_, stats_}, norm, 2 * bytes, "GB/s");
  report("layer_norm_backward", KernelId::layer_norm_backward, {x_, gain_, stats_, y_, z_}, norm, 3 * bytes,
         "GB/s");
  report("layer_norm_backward_params", KernelId::layer_norm_backward_params, {x_, stats_, y_, gain_, bias_},
         norm, 2 * bytes, "GB/s");
  report("sum_to, column sums", KernelId::sum_to, {x_, bias_},
         ReduceParams{n, {1, 1, rows, cols}, {1, 1, 1, cols}, 1, 0}, bytes, "GB/s");
  report("sum_to, all", KernelId::sum_to, {x_, scale_},
         ReduceParams{n, {1, 1, rows, cols}, {1, 1, 1, 1}, 1e-9f, 0}, bytes, "GB/s");
  scale[0] = 1.0f;
  report("softmax", KernelId::softmax, {x_, y_}, RowsParams{rows, cols, 0}, 2 * bytes, "GB/s");
  report("cross_entropy, gradient", KernelId::cross_entropy, {z_, targets_, scale_, loss_},
         CrossEntropyParams{rows, cols, -100, 1}, 2 * bytes, "GB/s");
  StepParams step{};
  step.learning_rate = 1e-3f;
  step.bias_correction1 = step.bias_correction2 = 1;
  std::vector<float> step_words(sizeof step / 4), stats_words{0, 1, 1, 0};
  std::memcpy(step_words.data(), &step, sizeof step);
  const VectorView step_(step_words), step_stats_(stats_words);
  report("dropout", KernelId::dropout, {x_, step_, y_}, DropoutParams{n, cols, 0, 1, 429496730u, 1.1f, 0},
         2 * bytes, "GB/s");
  report("adamw", KernelId::adamw, {x_, y_, m_, s_, step_, step_stats_},
         OptimizerParams{n, n / 2, 0.1f, 0.9f, 0.99f, 1e-8f}, 7 * bytes, "GB/s");
  std::vector<float> partials(2 * 256);
  const VectorView partials_(partials);
  report("grad_norm_partial", KernelId::grad_norm_partial, {y_, partials_}, GradNormPartialParams{n, 256, 0},
         bytes, "GB/s");
  attention(12, 64, 4, 32);
  attention(16, 256, 6, 64);
  attention(2, 1024, 12, 64);
}
