// Every operation's gradient, three ways: against the exact derivative along each element (dual numbers on
// the reference device), against central differences there, and the CPU's against the reference device's.
#include "compare_gradients.h"

namespace llmtool::test {

TEST_CASE("gradients on the reference device are the derivatives that dual numbers give") {
  using ref::Dual;
  for (const Case& c : gradient_cases()) {
    INFO(c.name);
    ReferenceDevice<Dual> device(11);
    const std::vector<Tensor> in = leaves(device, c);
    loss_of(device, c, in).backward();
    const NoGrad no_grad;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::vector<Dual> grad = device.peek(in[i].grad().view());
      const std::vector<Dual> values = device.peek(in[i].view());
      for (std::size_t e = 0; e < values.size(); ++e) {
        INFO("input " << i << " element " << e);
        device.poke(in[i].view(), e, Dual(values[e].v, 1));
        const double slope = device.peek(loss_of(device, c, in).view())[0].d;
        device.poke(in[i].view(), e, values[e]);
        REQUIRE(grad[e].v == Approx(slope).epsilon(1e-10).margin(1e-10));
      }
    }
  }
}

TEST_CASE("gradients agree with central differences") {
  for (const char* wanted : {"tanh", "linear 2", "layer_norm", "attention grouped", "cross_entropy"}) {
    for (const Case& c : gradient_cases()) {
      if (c.name != wanted) continue;
      INFO(c.name);
      ReferenceDevice<double> device(12);
      const std::vector<Tensor> in = leaves(device, c);
      loss_of(device, c, in).backward();
      const NoGrad no_grad;
      const double x = device.peek(in[0].view())[1];
      const auto at = [&](double value) {
        device.poke(in[0].view(), 1, value);
        return device.peek(loss_of(device, c, in).view())[0];
      };
      const double slope = (at(x + 1e-5) - at(x - 1e-5)) / 2e-5;
      REQUIRE(device.peek(in[0].grad().view())[1] == Approx(slope).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("values and gradients on the CPU are the reference device's", "[threads]") {
  const auto cpu = make_cpu_device(2);
  for (const Case& c : gradient_cases()) require_reference_gradients(*cpu, c);
}

}  // namespace llmtool::test
