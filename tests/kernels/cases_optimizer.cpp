// Cases of the gradient norm and of the optimizers.
#include <algorithm>
#include <limits>

#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

void add_partial(Cases& cases, const std::string& what, const std::vector<float>& gradients,
                 std::uint32_t groups, std::uint32_t first) {
  const GradNormPartialParams p{static_cast<std::uint32_t>(gradients.size()), groups, first};
  // Neighbours of the parts written must stay.
  Case c = make_case<KernelId::grad_norm_partial>(
      cat(what, " n ", gradients.size(), " groups ", groups, " first ", first),
      {floats(gradients), floats(uniform(2 * std::size_t{first + groups + 2}, 3))}, p, 1e-11);
  c.pairs = true;
  cases.push_back(std::move(c));
}

void add_partials(Cases& cases) {
  auto all = sizes();
  all.push_back(1000);
  all.push_back(5003);
  for (const std::uint32_t n : all) {
    for (const std::uint32_t groups : {1u, 4u, 64u}) {
      for (const std::uint32_t first : {0u, 5u}) add_partial(cases, "", uniform(n, n), groups, first);
    }
  }
  auto mixed = uniform(1000, 8);
  for (std::size_t i = 0; i < mixed.size(); i += 2) mixed[i] *= 1e8f;  // small squares vanish in f32 sums
  add_partial(cases, "mixed sizes", mixed, 4, 0);
  for (const float bad : {infinity, -infinity, not_a_number}) {
    auto gradients = uniform(100, 9);
    gradients[77] = bad;
    add_partial(cases, cat("with ", bad), gradients, 4, 0);
  }
}

void add_finish(Cases& cases, const std::string& what, std::vector<float> partials, float clip, float loss) {
  const GradNormFinishParams p{static_cast<std::uint32_t>(partials.size() / 2)};
  StepParams step{};
  step.grad_clip = clip;
  const StepStats stats{loss, not_a_number, not_a_number, not_a_number};
  cases.push_back(
      make_case<KernelId::grad_norm_finish>(cat(what, " count ", p.count, " clip ", clip, " loss ", loss),
                                            {floats(partials), words_of(step), words_of(stats)}, p, 2e-7));
}

void add_finishes(Cases& cases) {
  for (const std::uint32_t count : {1u, 3u, 64u, 257u}) {
    auto partials = uniform(2 * count, count, 0.5f, 2);
    for (std::size_t i = 1; i < partials.size(); i += 2) partials[i] *= 1e-8f;
    for (const float clip : {0.0f, 1e-3f, 1.0f, 1e6f}) add_finish(cases, "", partials, clip, 2.5f);
    add_finish(cases, "", partials, 1, infinity);
    add_finish(cases, "", partials, 1, not_a_number);
    for (const float bad : {infinity, not_a_number}) {
      auto broken = partials;
      broken[0] = bad;
      add_finish(cases, cat("partial ", bad), broken, 1, 2.5f);
    }
  }
  add_finish(cases, "zero", {0, 0, 0, 0}, 1, 2.5f);
}

OptimizerParams optimizer(std::uint32_t n, std::uint32_t n_decay, float beta1, float beta2) {
  OptimizerParams p{};
  p.n = n;
  p.n_decay = n_decay;
  p.weight_decay = 0.1f;
  p.beta1 = beta1;
  p.beta2 = beta2;
  p.eps = 1e-8f;
  return p;
}

void add_optimizers(Cases& cases, std::uint32_t n, std::uint32_t n_decay) {
  StepParams step{};
  step.learning_rate = 3e-2f;
  step.bias_correction1 = 1.9f;
  step.bias_correction2 = 7.5f;
  step.grad_clip = 1;
  const auto x = uniform(n, n), g = uniform(n, n + 1), m = uniform(n, n + 2), v = uniform(n, n + 3, 0, 4);
  for (const float clip : {1.0f, 0.25f}) {
    const StepStats stats{1, 2, clip, 0};
    const std::string what = cat("n ", n, " decay ", n_decay, " clip ", clip);
    cases.push_back(make_case<KernelId::adamw>(
        what, {floats(x), floats(g), floats(m), floats(v), words_of(step), words_of(stats)},
        optimizer(n, n_decay, 0.9f, 0.95f), 4e-7, 1e-8));
    cases.push_back(make_case<KernelId::sgd>(
        what + " momentum", {floats(x), floats(g), floats(m), words_of(step), words_of(stats)},
        optimizer(n, n_decay, 0.9f, 0), 4e-7, 1e-8));
    cases.push_back(
        make_case<KernelId::sgd>(what, {floats(x), floats(g), absent(), words_of(step), words_of(stats)},
                                 optimizer(n, n_decay, 0, 0), 4e-7, 1e-8));
  }
}

/// Gradients that are not finite: nothing may change, to the last bit.
void add_skipped(Cases& cases) {
  StepParams step{};
  step.learning_rate = 3e-2f;
  const StepStats stats{1, infinity, 0, 1};
  const std::uint32_t n = 37;
  auto g = uniform(n, 1);
  g[3] = infinity;
  g[20] = not_a_number;
  const auto x = uniform(n, 2), m = uniform(n, 3), v = uniform(n, 4, 0, 4);
  cases.push_back(make_case<KernelId::adamw>(
      "skipped", {floats(x), floats(g), floats(m), floats(v), words_of(step), words_of(stats)},
      optimizer(n, n, 0.9f, 0.95f), 0));
  cases.push_back(make_case<KernelId::sgd>("skipped",
                                           {floats(x), floats(g), floats(m), words_of(step), words_of(stats)},
                                           optimizer(n, n, 0.9f, 0), 0));
}

}  // namespace

void add_optimizer_cases(Cases& cases) {
  add_partials(cases);
  add_finishes(cases);
  for (const std::uint32_t n : sizes()) {
    add_optimizers(cases, n, 0);
    add_optimizers(cases, n, n / 2);
    add_optimizers(cases, n, n);
  }
  add_optimizers(cases, 1000, 333);
  add_skipped(cases);
}

}  // namespace llmtool::kernel_test
