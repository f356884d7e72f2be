// The graphs whose gradients are checked: every operation, in every form that its backward tells apart.
#include "support.h"

namespace llmtool::test {
namespace {

using Inputs = std::vector<Tensor>;

Tensor qkv_attention(Device& device, const Inputs& in, ops::AttentionHeads heads, float p) {
  ops::Dropout dropout;
  dropout.p = p;
  dropout.sample0 = 5;
  if (p > 0) dropout.step_params = step_params(device);
  return ops::attention(in[0], heads, dropout);
}

std::vector<Case> make_cases() {
  using namespace ops;
  std::vector<Case> cases;
  const auto add_case = [&](const char* name, std::vector<Shape> shapes, auto graph, bool positive = false) {
    cases.push_back({name, std::move(shapes), graph, positive});
  };
  const auto one = [&](const char* name, Tensor (*f)(const Tensor&), bool positive = false) {
    add_case(
        name, {{2, 5}}, [f](Device&, const Inputs& in) { return f(in[0]); }, positive);
  };
  const auto two = [&](const char* name, Shape a, Shape b, Tensor (*f)(const Tensor&, const Tensor&)) {
    add_case(
        name, {a, b}, [f](Device&, const Inputs& in) { return f(in[0], in[1]); }, true);
  };

  two("add", {2, 3}, {2, 3}, add);
  two("add broadcast", {2, 1, 3}, {4, 1}, add);
  two("sub", {2, 3}, {3}, sub);
  two("sub scalar", {}, {2, 3}, sub);
  two("mul", {2, 3}, {2, 3}, mul);
  two("mul broadcast", {3}, {2, 4, 3}, mul);
  two("div", {2, 3}, {2, 1}, div);
  two("div reversed", {3}, {2, 3}, div);
  two("pow", {2, 3}, {2, 3}, static_cast<Tensor (*)(const Tensor&, const Tensor&)>(pow));
  two("pow broadcast", {2, 1}, {3}, static_cast<Tensor (*)(const Tensor&, const Tensor&)>(pow));
  add_case("pow number", {{2, 3}}, [](Device&, const Inputs& in) { return ops::pow(in[0], 3.0F); });
  add_case("affine", {{2, 3}}, [](Device&, const Inputs& in) { return affine(in[0], -2.5F, 1.0F); });
  add_case(
      "operators", {{2, 3}, {2, 3}},
      [](Device&, const Inputs& in) { return (in[0] + 1.0F) * in[1] - 2.0F * in[0] / in[1] + -in[1]; }, true);

  one("exp", ops::exp);
  one("log", ops::log, true);
  one("sqrt", ops::sqrt, true);
  one("tanh", ops::tanh);
  one("relu", relu);
  one("gelu", gelu);
  one("gelu_exact", gelu_exact);
  one("silu", silu);
  one("softmax", softmax);
  one("log_softmax", log_softmax);
  one("sum", sum);
  one("mean", mean);
  add_case("swiglu", {{3, 6}}, [](Device&, const Inputs& in) { return swiglu(in[0]); });
  add_case("sum_last", {{2, 3, 4}}, [](Device&, const Inputs& in) { return sum_last(in[0]); });
  add_case("mean_last", {{2, 3, 4}}, [](Device&, const Inputs& in) { return mean_last(in[0], true); });
  add_case("sum_to", {{2, 3, 4}}, [](Device&, const Inputs& in) { return sum_to(in[0], {3, 1}); });
  add_case("permute", {{2, 3, 4}}, [](Device&, const Inputs& in) { return permute(in[0], {2, 0, 1}); });
  add_case("transpose", {{2, 3, 4}}, [](Device&, const Inputs& in) { return transpose(in[0]); });
  add_case("reshape", {{2, 6}}, [](Device&, const Inputs& in) {
    return reshape(in[0], {3, -1}) * reshape(in[0], {3, 4});
  });

  two("matmul", {3, 4}, {4, 2}, matmul);
  two("matmul rows", {2, 3, 4}, {4, 2}, matmul);
  two("matmul batched", {2, 3, 4}, {2, 4, 2}, matmul);
  two("matmul broadcast", {2, 1, 3, 4}, {3, 4, 2}, matmul);
  two("matmul one to many", {3, 4}, {2, 4, 2}, matmul);
  add_case("matmul self", {{3, 3}}, [](Device&, const Inputs& in) { return matmul(in[0], in[0]); });
  for (const auto act : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_exact}) {
    const std::string name = cat("linear ", static_cast<int>(act));
    add_case(name.c_str(), {{2, 3, 4}, {5, 4}, {5}},
             [act](Device&, const Inputs& in) { return linear(in[0], in[1], in[2], act); });
  }
  add_case("linear without bias", {{3, 4}, {5, 4}},
           [](Device&, const Inputs& in) { return linear(in[0], in[1]); });
  add_case("linear_joined", {{3, 4}, {2, 4}, {5, 4}, {2}, {5}}, [](Device&, const Inputs& in) {
    return linear_joined(in[0], std::vector{in[1], in[2]}, std::vector{in[3], in[4]});
  });
  add_case("linear_joined twice one weight", {{3, 4}, {2, 4}}, [](Device&, const Inputs& in) {
    return linear_joined(in[0], std::vector{in[1], in[1]}, {});
  });

  add_case("layer_norm", {{2, 3, 6}, {6}, {6}},
           [](Device&, const Inputs& in) { return layer_norm(in[0], in[1], in[2], 1e-5F); });
  add_case("layer_norm without bias", {{4, 6}, {6}},
           [](Device&, const Inputs& in) { return layer_norm(in[0], in[1], {}, 1e-5F); });
  add_case("layer_norm one vector", {{4, 6}, {6}},
           [](Device&, const Inputs& in) { return layer_norm(in[0], in[1], in[1], 1e-5F); });
  add_case("rms_norm", {{2, 3, 6}, {6}},
           [](Device&, const Inputs& in) { return rms_norm(in[0], in[1], 1e-5F); });

  add_case("attention", {{2, 4, 18}}, [](Device& d, const Inputs& in) {
    return qkv_attention(d, in, {3, 3}, 0);
  });
  add_case("attention grouped", {{2, 4, 16}}, [](Device& d, const Inputs& in) {
    return qkv_attention(d, in, {4, 2}, 0);
  });
  add_case("attention dropout", {{2, 4, 16}}, [](Device& d, const Inputs& in) {
    return qkv_attention(d, in, {4, 2}, 0.3F);
  });
  add_case("rotary", {{2, 3, 3, 4}}, [](Device& d, const Inputs& in) {
    return rotary(in[0], rotary_table(d, 5, 4, 10000), 2, 1, RotaryStyle::adjacent);
  });
  add_case("rotary half", {{2, 3, 3, 4}}, [](Device& d, const Inputs& in) {
    return rotary(in[0], rotary_table(d, 5, 4, 10000), 3, 2, RotaryStyle::half);
  });
  add_case("dropout", {{3, 8}}, [](Device& d, const Inputs& in) {
    return dropout(in[0], {0.4F, 2, 1, step_params(d)});
  });
  add_case("gather_rows", {{4, 3}}, [](Device& d, const Inputs& in) {
    return gather_rows(in[0], Index(d, std::vector{3, 0, 3, 1, 0, 3}, 4));
  });
  two("mse_loss", {2, 3}, {2, 3}, mse_loss);
  add_case("cross_entropy", {{2, 2, 5}}, [](Device& d, const Inputs& in) {
    return cross_entropy(in[0], Targets(d, std::vector{4, ignore_index, 0, 2}, 5));
  });
  add_case("cross_entropy scaled", {{3, 5}}, [](Device& d, const Inputs& in) {
    return -2.0F * cross_entropy(in[0], Targets(d, std::vector{4, 1, 0}, 5));
  });
  add_case("head_loss", {{2, 2, 3}, {5, 3}}, [](Device& d, const Inputs& in) {
    return head_loss(in[0] * in[0], in[1], Targets(d, std::vector{4, ignore_index, 0, 2}, 5));
  });
  add_case("head_loss of a leaf", {{4, 3}, {5, 3}}, [](Device& d, const Inputs& in) {
    return head_loss(in[0], in[1], Targets(d, std::vector{4, 1, 0, 2}, 5));
  });
  add_case("tied head", {{5, 3}}, [](Device& d, const Inputs& in) {
    const Tensor x = gather_rows(in[0], Index(d, std::vector{4, 1, 1}, 5));
    return head_loss(x, in[0], Targets(d, std::vector{1, 1, 3}, 5));
  });
  return cases;
}

}  // namespace

const std::vector<Case>& gradient_cases() {
  static const std::vector<Case> cases = make_cases();
  return cases;
}

}  // namespace llmtool::test
