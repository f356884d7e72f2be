// Whole-model loss and every named gradient against an independent framework, for configurations that
// together use every option of the model section.
#include "model/gpt_fixture.h"

#include <cmath>

#include "cpu/cpu_device.h"
#include "ref/reference_device.h"
#include "support/catch.h"

namespace llmtool {
namespace {

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

/// The relative distance allowed between gradients, and what is allowed beside it as a part of the largest
/// norm: a gradient that is zero by symmetry (a key bias without rotary positions) is compared with that
/// alone.
struct Tolerance {
  double relative;
  double of_largest;
};

template <class Values>
void compare(GPT& model, const GptFixture& f, Tolerance tolerance, Values values) {
  double largest = 0;
  for (const auto& [name, grad] : f.grads) largest = std::max(largest, norm(grad));
  const auto parameters = model.named_parameters();
  CHECK(parameters.size() == f.grads.size());
  for (const auto& [name, parameter] : parameters) {
    INFO(name);
    REQUIRE(f.grads.count(name) == 1);
    const std::vector<double>& expected = f.grads.at(name);
    const std::vector<double> got = values(parameter->tensor.grad());
    REQUIRE(got.size() == expected.size());
    std::vector<double> difference(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) difference[i] = got[i] - expected[i];
    CHECK(norm(difference) <= tolerance.relative * norm(expected) + tolerance.of_largest * largest);
  }
}

TEST_CASE("a model's loss and gradients equal an independent framework's (cpu)", "[model]") {
  const auto device = make_cpu_device(2);
  for (const std::string& name : gpt_fixture_names) {
    INFO(name);
    const GptFixture f = read_gpt_fixture(name);
    GPT model(f.config, f.vocab);
    model.materialise(*device, true);
    set_fixture_weights(model);
    const ops::Index ids(*device, f.ids, f.vocab);
    const ops::Targets targets(*device, f.targets, f.vocab);
    const Tensor loss = model.loss(ids, targets, f.batch);
    loss.backward();
    CHECK(loss.item() == Approx(f.loss).epsilon(2e-6));
    compare(model, f, {2e-5, 1e-7}, [](const Tensor& grad) {
      const std::vector<float> raw = grad.to_host();
      return std::vector<double>(raw.begin(), raw.end());
    });
  }
}

TEST_CASE("a model's loss and gradients equal an independent framework's (reference device)", "[model]") {
  for (const std::string& name : gpt_fixture_names) {
    INFO(name);
    const GptFixture f = read_gpt_fixture(name);
    ReferenceDevice<double> device;
    GPT model(f.config, f.vocab);
    model.materialise(device, true);
    set_fixture_weights(model);
    const ops::Index ids(device, f.ids, f.vocab);
    const ops::Targets targets(device, f.targets, f.vocab);
    device.poke(targets.scale().view(), 0, 1.0 / static_cast<double>(targets.counted()));
    const Tensor loss = model.loss(ids, targets, f.batch);
    loss.backward();
    CHECK(device.peek(loss.view())[0] == Approx(f.loss).epsilon(1e-9));
    compare(model, f, {1e-9, 1e-10}, [&](const Tensor& grad) { return device.peek(grad.view()); });
  }
}

}  // namespace
}  // namespace llmtool
