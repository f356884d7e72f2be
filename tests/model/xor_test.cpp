// The smallest network that needs a hidden layer: 2-4-2 with tanh learns exclusive or by plain gradient
// descent.
#include "cpu/cpu_device.h"
#include "nn/layers.h"
#include "ops/loss.h"
#include "ops/unary.h"
#include "optim/optimizer.h"
#include "support/catch.h"

namespace llmtool {
namespace {

class XorNet : public Module {
 public:
  explicit XorNet(bool tanh) : tanh_(tanh), hidden_(2, 4), out_(4, 2) {
    adopt("hidden", hidden_);
    adopt("out", out_);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor h = hidden_(x);
    return out_(tanh_ ? ops::tanh(h) : h);
  }

 private:
  bool tanh_;
  Linear hidden_, out_;
};

struct Outcome {
  float first_loss = 0;
  int correct = 0;
};

Outcome learn(Device& device, std::uint64_t seed, bool tanh) {
  XorNet net(tanh);
  CHECK(net.parameter_count() == 22);
  net.materialise(device, true);
  net.initialise(seed);
  Optimizer optimizer(net.slabs(), {OptimizerKind::sgd, 0, 0, 0, 0});
  StepState state(device);
  StepParams params{};
  params.learning_rate = 0.5f;
  const Tensor x = Tensor::of(device, Shape{4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const std::vector<std::int32_t> y = {0, 1, 1, 0};
  const ops::Targets targets(device, y, 2);
  Outcome outcome;
  for (int step = 0; step < 1000; ++step) {
    state.stage(params);
    net.zero_grad();
    const Tensor loss = ops::cross_entropy(net(x), targets);
    if (step == 0) outcome.first_loss = loss.item();
    loss.backward();
    optimizer.step(state);
  }
  const std::vector<float> logits = net(x).to_host();
  for (std::size_t i = 0; i < 4; ++i) outcome.correct += (logits[2 * i + 1] > logits[2 * i]) == (y[i] == 1);
  return outcome;
}

TEST_CASE("a 2-4-2 tanh network learns exclusive or, a linear one cannot", "[model]") {
  const auto device = make_cpu_device(1);
  int learned = 0;
  double first = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Outcome outcome = learn(*device, seed, true);
    INFO("seed " << seed);
    CHECK(outcome.first_loss == Approx(0.69).margin(0.35));
    first += outcome.first_loss / 10;
    learned += outcome.correct == 4;
    CHECK(learn(*device, seed, false).correct < 4);
  }
  CHECK(first == Approx(0.69).margin(0.15));
  CHECK(learned >= 9);
}

}  // namespace
}  // namespace llmtool
