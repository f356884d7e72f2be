// Demo: automatic differentiation on three numbers, then a line fitted by gradient descent.
#include "base/cat.h"
#include "cli/demo.h"
#include "ops/elementwise.h"
#include "ops/reduce.h"
#include "tensor/autograd.h"

namespace llmtool {

namespace {

Tensor variable(Device& device, float value) {
  Tensor t = Tensor::scalar(device, value);
  t.set_requires_grad();
  return t;
}

}  // namespace

void demo_tensor(Device& device, const DemoOutput& out) {
  out.say("== tensor: gradients without a framework ==");
  const Tensor x = variable(device, 2), y = variable(device, 3), w = variable(device, 1);
  const Tensor z = x * y + w;
  z.backward();
  const float dx = x.grad().item(), dy = y.grad().item(), dw = w.grad().item();
  out.say(cat("z = x*y + w at (2, 3, 1): z = ", fixed(static_cast<double>(z.item()), 0), ", dz/dx = ",
              fixed(static_cast<double>(dx), 0), ", dz/dy = ", fixed(static_cast<double>(dy), 0),
              ", dz/dw = ", fixed(static_cast<double>(dw), 0)));

  out.say("fitting y = 2x + 1 to x = 1..5, from w = b = 0, by gradient descent (rate 0.001)");
  const Tensor xs = Tensor::of(device, {5}, {1, 2, 3, 4, 5}), ys = Tensor::of(device, {5}, {3, 5, 7, 9, 11});
  Tensor slope = variable(device, 0), bias = variable(device, 0);
  constexpr int steps = 10000;
  float first_loss = 0, loss_value = 0;
  for (int step = 0; step < steps; ++step) {
    const Tensor error = slope * xs + bias - ys;
    const Tensor loss = ops::sum(error * error);
    loss.backward();
    if (step == 0 || step == 100 || step == 1000 || step == steps - 1) {
      loss_value = loss.item();
      if (step == 0) first_loss = loss_value;
      out.say(cat("  step ", step, " | loss ", fixed(static_cast<double>(loss_value), step == 0 ? 0 : 6)));
    }
    for (Tensor* p : {&slope, &bias}) {
      const float updated = p->item() - 0.001f * p->grad().item();
      p->assign(std::span<const float>(&updated, 1));
      p->zero_grad();
    }
  }
  const double slope_value = static_cast<double>(slope.item()), bias_value = static_cast<double>(bias.item());
  out.say(cat("  w = ", fixed(slope_value, 2), ", b = ", fixed(bias_value, 2)));
  out.result({{"demo", "tensor"},
              {"z", z.item()},
              {"gradients", {dx, dy, dw}},
              {"first_loss", first_loss},
              {"last_loss", loss_value},
              {"w", slope_value},
              {"b", bias_value}});
}

}  // namespace llmtool
