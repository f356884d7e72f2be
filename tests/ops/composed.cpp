// Every fused operation against its definition in elementary ones: values and gradients, on the reference
// device to 1e-10.
#include "support.h"

namespace llmtool::test {
namespace {

using Graph = std::function<Tensor(Device&, const std::vector<Tensor>&)>;

/// Same loss and same gradients from both graphs. Tolerance by the device's precision.
void require_same(const std::vector<Shape>& shapes, const Graph& fused, const Graph& composed) {
  ReferenceDevice<double> d(21);
  const auto run = [&](const Graph& graph) {
    const Case c{"composed", shapes, graph, false};
    const std::vector<Tensor> in = leaves(d, c);
    const Tensor loss = loss_of(d, c, in);
    loss.backward();
    std::vector<std::vector<double>> out{d.peek(loss.view())};
    for (const Tensor& t : in) out.push_back(d.peek(t.grad().view()));
    return out;
  };
  const auto got = run(fused);
  const auto wanted = run(composed);
  for (std::size_t i = 0; i < got.size(); ++i) {
    for (std::size_t e = 0; e < got[i].size(); ++e) {
      INFO("tensor " << i << " element " << e);
      REQUIRE(got[i][e] == Approx(wanted[i][e]).epsilon(1e-10).margin(1e-10));
    }
  }
}

/// 0 on and below the diagonal, far below any score above it.
Tensor causal_mask(Device& d, std::int64_t n) {
  std::vector<float> mask;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) mask.push_back(j > i ? -1e30F : 0.0F);
  }
  return Tensor::of(d, {n, n}, mask);
}

}  // namespace

TEST_CASE("linear is matmul, add and activation") {
  using ops::Activation;
  const auto check = [](Activation act, const std::function<Tensor(const Tensor&)>& f) {
    require_same(
        {{2, 3, 4}, {5, 4}, {5}},
        [act](Device&, const auto& in) { return ops::linear(in[0], in[1], in[2], act); },
        [f](Device&, const auto& in) { return f(ops::matmul(in[0], ops::transpose(in[1])) + in[2]); });
  };
  check(Activation::none, [](const Tensor& x) { return x; });
  check(Activation::relu, ops::relu);
  check(Activation::gelu, ops::gelu);
  check(Activation::gelu_exact, ops::gelu_exact);
}

TEST_CASE("swiglu of a joined product is silu(gate) * up") {
  require_same(
      {{3, 4}, {5, 4}, {5, 4}, {5}, {5}},
      [](Device&, const auto& in) {
        return ops::swiglu(ops::linear_joined(in[0], std::vector{in[1], in[2]}, std::vector{in[3], in[4]}));
      },
      [](Device&, const auto& in) {
        return ops::silu(ops::linear(in[0], in[1], in[3])) * ops::linear(in[0], in[2], in[4]);
      });
}

TEST_CASE("norms are means, differences and a root") {
  // Eight columns: their reciprocal is exact in f32.
  require_same(
      {{2, 3, 8}, {8}, {8}},
      [](Device&, const auto& in) { return ops::layer_norm(in[0], in[1], in[2], 1e-5F); },
      [](Device&, const auto& in) {
        const Tensor d = in[0] - ops::mean_last(in[0], true);
        return d / ops::sqrt(ops::mean_last(d * d, true) + 1e-5F) * in[1] + in[2];
      });
  require_same(
      {{4, 8}, {8}}, [](Device&, const auto& in) { return ops::rms_norm(in[0], in[1], 1e-5F); },
      [](Device&, const auto& in) {
        return in[0] / ops::sqrt(ops::mean_last(in[0] * in[0], true) + 1e-5F) * in[1];
      });
}

TEST_CASE("attention is softmax(q k^T / sqrt(D) + mask) v, head by head") {
  // T = 5 tokens, H = 4 heads, G = 2 key/value heads, D = 4 (whose root is exact).
  require_same(
      {{1, 5, 6}, {16, 6}, {8, 6}, {8, 6}},
      [](Device&, const auto& in) {
        return ops::attention(ops::linear_joined(in[0], std::vector{in[1], in[2], in[3]}, {}), {4, 2});
      },
      [](Device& d, const auto& in) {
        const auto heads = [&](int weight, std::int64_t n, Shape shape) {
          const Tensor y = ops::reshape(ops::linear(in[0], in[static_cast<std::size_t>(weight)]), {5, n, 4});
          return ops::reshape(ops::permute(y, {1, 0, 2}), shape);
        };
        const Tensor q = heads(1, 4, {2, 2, 5, 4});
        const Tensor k = heads(2, 2, {2, 1, 5, 4});
        const Tensor v = heads(3, 2, {2, 1, 5, 4});
        const Tensor scores = ops::matmul(q, ops::transpose(k)) * 0.5F + causal_mask(d, 5);
        const Tensor out = ops::reshape(ops::matmul(ops::softmax(scores), v), {4, 5, 4});
        return ops::reshape(ops::permute(out, {1, 0, 2}), {1, 5, 16});
      });
}

TEST_CASE("cross entropy is minus the log-softmax of the targets") {
  const std::vector<std::int32_t> ids{4, ops::ignore_index, 0, 2};
  const Graph composed = [](Device& d, const auto& in) {
    std::vector<float> picked(20, 0.0F);
    picked[4] = picked[10] = picked[17] = -1.0F / 3.0F;
    return ops::sum(ops::log_softmax(in[0]) * Tensor::of(d, {4, 5}, picked));
  };
  ReferenceDevice<double> d(22);
  const Case fused{"ce", {{4, 5}}, [&](Device& dev, const auto& in) {
                     return ops::cross_entropy(in[0], ops::Targets(dev, ids, 5));
                   }};
  const Case plain{"ce", {{4, 5}}, composed};
  const auto a = leaves(d, fused), b = leaves(d, plain);
  const Tensor loss = loss_of(d, fused, a), wanted = loss_of(d, plain, b);
  loss.backward();
  wanted.backward();
  REQUIRE(loss.item() == Approx(wanted.item()).epsilon(1e-6));
  const auto g = a[0].grad().to_host();
  require_close(b[0].grad(), std::vector<double>(g.begin(), g.end()), 1e-6);
}

TEST_CASE("head_loss is cross entropy of a linear layer, whichever side wants a gradient") {
  on_each_device([](Device& d) {
    // More rows than one chunk holds.
    const std::int64_t rows = 40, vocab = 300000;
    REQUIRE(ops::head_loss_chunk(rows, vocab) == 16);
    std::vector<std::int32_t> ids(7, 3);
    const ops::Targets targets(d, ids, 9);
    const auto gradients = [&](bool x_wants, bool w_wants, bool fused) {
      Tensor x = drawn(d, "x", {7, 4}), w = drawn(d, "w", {9, 4});
      if (x_wants) x.set_requires_grad();
      if (w_wants) w.set_requires_grad();
      const Tensor loss =
          fused ? ops::head_loss(x, w, targets) : ops::cross_entropy(ops::linear(x, w), targets);
      if (loss.requires_grad()) loss.backward();
      std::vector<double> out{static_cast<double>(loss.item())};
      for (const Tensor& t : {x, w}) {
        if (!t.grad().defined()) continue;
        for (const float v : t.grad().to_host()) out.push_back(static_cast<double>(v));
      }
      return out;
    };
    for (const auto& [x_wants, w_wants] :
         {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
      const auto got = gradients(x_wants, w_wants, true);
      require_close(std::vector<float>(got.begin(), got.end()), gradients(x_wants, w_wants, false), 1e-5);
    }
  });
}

TEST_CASE("joined weights side by side give one product, and the same bits") {
  on_each_device([](Device& d) {
    // Weights (2,4) and (3,4) in one slab, their gradients in another.
    const Tensor weights = drawn(d, "w", {5, 4}), biases = drawn(d, "b", {5});
    const auto run = [&](bool together) {
      const Tensor apart = drawn(d, "w", {5, 4}), grads = Tensor::zeros(d, {25});
      Tensor w0 = weights.alias(0, {2, 4}), w1 = (together ? weights : apart).alias(8, {3, 4});
      Tensor b0 = biases.alias(0, {2}), b1 = biases.alias(2, {3});
      for (Tensor* t : {&w0, &w1, &b0, &b1}) t->set_requires_grad();
      w0.set_grad(grads.alias(0, {2, 4}));
      w1.set_grad(grads.alias(8, {3, 4}));
      b0.set_grad(grads.alias(20, {2}));
      if (together) b1.set_grad(grads.alias(22, {3}));
      const Tensor x = drawn(d, "x", {6, 4}).set_requires_grad();
      const auto launches = [&] { return d.stats().launches_of[static_cast<std::size_t>(KernelId::matmul)]; };
      const auto before = launches();
      const Tensor y = ops::linear_joined(x, std::vector{w0, w1}, std::vector{b0, b1});
      ops::sum(y * drawn(d, "g", y.shape())).backward();
      std::vector<float> out = y.to_host();
      for (const Tensor& t : {x.grad(), w0.grad(), w1.grad(), b0.grad(), b1.grad()}) {
        const auto more = t.to_host();
        out.insert(out.end(), more.begin(), more.end());
      }
      return std::pair(out, launches() - before);
    };
    const auto [one, one_launches] = run(true);
    const auto [many, many_launches] = run(false);
    REQUIRE(one_launches == 3);
    REQUIRE(many_launches == 5);  // the gradients of the weights still lie together
    REQUIRE(one == many);
  });
}

}  // namespace llmtool::test
