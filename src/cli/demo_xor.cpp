// Demo: the smallest network that needs a hidden layer.
#include <vector>

#include "base/cat.h"
#include "cli/demo.h"
#include "nn/layers.h"
#include "ops/loss.h"
#include "ops/unary.h"
#include "optim/optimizer.h"
#include "tensor/autograd.h"

namespace llmtool {

namespace {

/// 2 inputs, 4 tanh units, 2 classes: 22 parameters.
class XorNet : public Module {
 public:
  XorNet() : hidden_(2, 4), output_(4, 2) {
    adopt("hidden", hidden_);
    adopt("output", output_);
  }
  Tensor operator()(const Tensor& x) const { return output_(ops::tanh(hidden_(x))); }

 private:
  Linear hidden_, output_;
};

}  // namespace

void demo_xor(Device& device, const DemoOutput& out, std::uint64_t seed) {
  XorNet net;
  net.materialise(device, true);
  net.initialise(seed);
  out.say(cat("== xor: a 2-4-2 tanh network, ", net.parameter_count(), " parameters, SGD 0.5 =="));
  const Tensor x = Tensor::of(device, {4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const std::vector<std::int32_t> labels = {0, 1, 1, 0};
  const ops::Targets y(device, labels, 2);
  OptimizerOptions options;
  options.kind = OptimizerKind::sgd;
  options.weight_decay = 0;
  options.beta1 = 0;
  StepState state(device);
  Optimizer sgd(net.slabs(), options);
  StepParams params{};
  params.learning_rate = 0.5f;
  Json losses = Json::array();
  constexpr int steps = 1000;
  for (int step = 0; step <= steps; ++step) {
    state.stage(params);
    net.slabs().zero_grads();
    const Tensor loss = ops::cross_entropy(net(x), y);
    if (step % 200 == 0) {
      losses.push_back(loss.item());
      out.say(cat("  step ", step, " | loss ", fixed(static_cast<double>(loss.item()), 4)));
    }
    if (step == steps) break;
    loss.backward();
    sgd.step(state);
  }
  const NoGrad no_grad;
  const std::vector<float> logits = net(x).to_host();
  int correct = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int answer = logits[2 * i + 1] > logits[2 * i] ? 1 : 0;
    correct += answer == labels[i] ? 1 : 0;
    out.say(cat("  ", i / 2, " xor ", i % 2, " = ", answer));
  }
  out.say(cat("  ", correct, "/4"));
  out.result(
      {{"demo", "xor"}, {"parameters", net.parameter_count()}, {"losses", losses}, {"correct", correct}});
}

}  // namespace llmtool
