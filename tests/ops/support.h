// What the tests of tensors and operations share: devices to run on, drawn values, comparisons, and the list
// of graphs whose gradients are checked. Not here: any check of one operation.
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "cpu/cpu_device.h"
#include "ops/attention.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/loss.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "ops/reduce.h"
#include "ops/shape_ops.h"
#include "ops/softmax.h"
#include "ops/unary.h"
#include "ref/reference_device.h"
#include "support/catch.h"
#include "tensor/autograd.h"
#include "tensor/recompute.h"

namespace llmtool::test {

/// Calls `body` with the CPU and with the reference device in turn.
template <class Body>
void on_each_device(const Body& body) {
  {
    const auto cpu = make_cpu_device(2);
    INFO("on the CPU");
    body(*cpu);
  }
  ReferenceDevice<double> reference;
  INFO("on the reference device");
  body(reference);
}

inline void require_close(const std::vector<float>& got, const std::vector<double>& wanted,
                          double tolerance = 1e-5) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    REQUIRE(static_cast<double>(got[i]) == Approx(wanted[i]).margin(tolerance).epsilon(0));
  }
}
inline void require_close(const Tensor& got, const std::vector<double>& wanted, double tolerance = 1e-5) {
  require_close(got.to_host(), wanted, tolerance);
}

/// Normals of the stream `name`; all in [0.5, 1.5) where `positive`.
inline std::vector<float> draw(const std::string& name, std::int64_t n, bool positive = false) {
  const Stream stream(7, name);
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto e = static_cast<std::uint64_t>(i);
    values.push_back(static_cast<float>(positive ? 0.5 + stream.uniform(e) : stream.normal(e)));
  }
  return values;
}

inline Tensor drawn(Device& device, const std::string& name, const Shape& shape, bool positive = false) {
  return Tensor::of(device, shape, draw(name, shape.numel(), positive));
}

inline Tensor leaf(Device& device, const Shape& shape, std::initializer_list<float> values) {
  return Tensor::of(device, shape, values).set_requires_grad();
}

/// A StepParams buffer of dropout key (1, 2) at step 3.
inline Tensor step_params(Device& device) {
  StepParams params{};
  params.step = 3;
  params.dropout_key0 = 1;
  params.dropout_key1 = 2;
  Tensor tensor = Tensor::empty(device, {static_cast<std::int64_t>(sizeof params / 4)});
  device.stage(tensor.view(), std::as_bytes(std::span<const StepParams>(&params, 1)));
  return tensor;
}

/// A graph whose gradients are checked: leaves of these shapes, and what is made of them. A result that is no
/// scalar is weighted with drawn constants and summed.
struct Case {
  std::string name;
  std::vector<Shape> shapes;
  std::function<Tensor(Device&, const std::vector<Tensor>&)> graph;
  bool positive = false;  ///< Leaves in [0.5, 1.5) instead of normals.
};
const std::vector<Case>& gradient_cases();

inline std::vector<Tensor> leaves(Device& device, const Case& c) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    out.push_back(drawn(device, cat(c.name, ".", i), c.shapes[i], c.positive).set_requires_grad());
  }
  return out;
}

inline Tensor loss_of(Device& device, const Case& c, const std::vector<Tensor>& inputs) {
  const Tensor y = c.graph(device, inputs);
  return y.numel() == 1 ? y : ops::sum(ops::mul(y, drawn(device, c.name + ".weights", y.shape())));
}

/// The message of the Error that `body` throws, or "" if it throws none.
template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace llmtool::test
