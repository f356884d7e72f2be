// The optimizer step: values by hand, against an independent framework, clipping, and gradients that are not
// finite.
#include "optim/optimizer.h"

#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "base/files.h"
#include "cpu/cpu_device.h"
#include "fixtures/values.h"
#include "support/catch.h"

namespace llmtool {
namespace {

/// Two parameters, one of them decayed, under an optimizer.
class Fixture {
 public:
  Fixture(OptimizerOptions options, std::vector<float> w, std::vector<float> b, Shape w_shape)
      : device_(make_cpu_device(1)),
        slabs(*device_,
              std::vector<SlabEntry>{{w_shape, true, false},
                                     {Shape{static_cast<std::int64_t>(b.size())}, false, false}},
              true),
        optimizer(slabs, options),
        state(*device_),
        options_(options) {
    slabs.value(0).assign(std::span<const float>(w));
    slabs.value(1).assign(std::span<const float>(b));
  }

  StepStats step(const std::vector<float>& gw, const std::vector<float>& gb, double lr, float clip = 0) {
    slabs.grad(0).assign(std::span<const float>(gw));
    slabs.grad(1).assign(std::span<const float>(gb));
    ++t_;
    StepParams p{};
    p.learning_rate = static_cast<float>(lr);
    p.bias_correction1 = static_cast<float>(Optimizer::bias_correction(options_.beta1, t_));
    p.bias_correction2 = static_cast<float>(Optimizer::bias_correction(options_.beta2, t_));
    p.grad_clip = clip;
    state.stage(p);
    optimizer.step(state);
    const FetchedPtr stats = device_->fetch(state.stats().view());
    device_->synchronise();
    return stats->as<StepStats>().front();
  }

 private:
  std::unique_ptr<Device> device_;

 public:
  ParameterSlabs slabs;
  Optimizer optimizer;
  StepState state;

 private:
  OptimizerOptions options_;
  std::uint64_t t_ = 0;
};

TEST_CASE("AdamW by hand", "[optim]") {
  Fixture f({}, {1}, {1}, Shape{1});
  f.step({0.5f}, {0.5f}, 1e-3);
  // 1 - 1e-3 * 0.01 * 1 - 1e-3 * 1: the corrected moments of a first step give the gradient's sign.
  CHECK(f.slabs.value(0).item() == Approx(0.998990).epsilon(1e-7));
  CHECK(f.slabs.value(1).item() == Approx(0.999).epsilon(1e-7));
}

TEST_CASE("zero gradients still decay", "[optim]") {
  Fixture f({}, {2}, {2}, Shape{1});
  const StepStats stats = f.step({0}, {0}, 0.1, 1);
  CHECK(stats.grad_norm == 0);
  CHECK(stats.clip_scale == 1);
  CHECK(stats.non_finite == 0);
  CHECK(f.slabs.value(0).item() == Approx(2 * (1 - 0.1 * 0.01)));
  CHECK(f.slabs.value(1).item() == 2);
}

TEST_CASE("five steps equal an independent framework's", "[optim]") {
  std::istringstream file(read_file(Path(LLMTOOL_SOURCE_DIR) / "tests/fixtures/optimizer.txt"));
  std::map<std::string, std::vector<double>> expected;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind, step, label;
    std::size_t n = 0;
    line >> kind >> step >> label >> n;
    auto& values = expected[kind + step + label];
    values.resize(n);
    for (double& v : values) line >> v;
  }
  for (const char* kind : {"adamw", "sgd"}) {
    const bool adamw = std::string(kind) == "adamw";
    Fixture f(adamw ? OptimizerOptions{OptimizerKind::adamw, 0.1f, 0.9f, 0.99f, 1e-8f}
                    : OptimizerOptions{OptimizerKind::sgd, 0.1f, 0.9f, 0, 0},
              fixture_values("w", 12), fixture_values("b", 5), Shape{4, 3});
    for (int step = 0; step < 5; ++step) {
      f.step(fixture_values(cat("w.grad", step), 12), fixture_values(cat("b.grad", step), 5),
             0.01 * (step + 1));
      for (const std::size_t entry : {std::size_t{0}, std::size_t{1}}) {
        const auto& want = expected.at(cat(kind, step, entry == 0 ? "w" : "b"));
        const std::vector<float> got = f.slabs.value(entry).to_host();
        REQUIRE(got.size() == want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          INFO(kind << " step " << step << " entry " << entry << " element " << i);
          CHECK(got[i] == Approx(want[i]).epsilon(1e-6).margin(1e-7));
        }
      }
    }
  }
}

TEST_CASE("the norm is taken over all parameters and clipped to the bound", "[optim]") {
  Fixture f({OptimizerKind::sgd, 0, 0, 0, 0}, {0, 0}, {0}, Shape{2});
  StepStats stats = f.step({2, 3}, {6}, 1, 3.5f);
  CHECK(stats.grad_norm == Approx(7));
  CHECK(stats.clip_scale == Approx(0.5));
  CHECK(f.slabs.value(0).to_host()[1] == Approx(-1.5));
  CHECK(f.slabs.value(1).item() == Approx(-3));
  stats = f.step({2, 3}, {6}, 1, 8);
  CHECK(stats.clip_scale == 1);
}

TEST_CASE("large gradients are clipped while the square of their norm fits, and skipped beyond", "[optim]") {
  Fixture f({OptimizerKind::sgd, 0, 0, 0, 0}, {0, 0}, {0}, Shape{2});
  StepStats stats = f.step({3e18f, 4e18f}, {0}, 1, 1);
  CHECK(stats.non_finite == 0);
  CHECK(stats.grad_norm == Approx(5e18));
  CHECK(f.slabs.value(0).to_host()[1] == Approx(-0.8));
  stats = f.step({3e25f, 4e25f}, {0}, 1, 1);
  CHECK(stats.non_finite == 1);
  CHECK(f.slabs.value(0).to_host()[1] == Approx(-0.8));
}

TEST_CASE("a gradient that is not finite changes nothing", "[optim]") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Fixture f({}, {1, 2}, {3}, Shape{2});
    f.step({1, 1}, {1}, 1e-2);
    const auto w = f.slabs.value(0).to_host(), m = f.slabs.moment(0, 1).to_host();
    const StepStats stats = f.step({bad, 1}, {1}, 1e-2, 1);
    CHECK(stats.non_finite == 1);
    CHECK(stats.clip_scale == 0);
    CHECK(f.slabs.value(0).to_host() == w);
    CHECK(f.slabs.moment(0, 1).to_host() == m);
  }
}

TEST_CASE("a step changes the values' version", "[optim]") {
  Fixture f({}, {1}, {1}, Shape{1});
  const std::uint64_t before = f.slabs.value(0).version();
  f.step({1}, {1}, 1e-2);
  CHECK(f.slabs.value(0).version() > before);
}

}  // namespace
}  // namespace llmtool
