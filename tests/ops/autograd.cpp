// The rules of differentiation: accumulation, shared gradients, used graphs, NoGrad, changes in place, long
// chains.
#include "support.h"

namespace llmtool::test {

TEST_CASE("z = x y + w: value and gradients") {
  on_each_device([](Device& d) {
    const Tensor x = leaf(d, {}, {2}), y = leaf(d, {}, {3}), w = leaf(d, {}, {1});
    const Tensor z = x * y + w;
    REQUIRE(z.item() == 7.0F);
    z.backward();
    REQUIRE(x.grad().item() == 3.0F);
    REQUIRE(y.grad().item() == 2.0F);
    REQUIRE(w.grad().item() == 1.0F);
  });
}

TEST_CASE("a straight line is learned by gradient descent, and a rate of 1 diverges") {
  on_each_device([](Device& d) {
    const Tensor x = Tensor::of(d, {5}, {1, 2, 3, 4, 5});
    const Tensor y = Tensor::of(d, {5}, {3, 5, 7, 9, 11});
    const auto train = [&](float rate, int steps, std::vector<float>& losses) {
      float w = 0, b = 0;
      for (int i = 0; i < steps; ++i) {
        const Tensor tw = leaf(d, {}, {w}), tb = leaf(d, {}, {b});
        const Tensor e = tw * x + tb - y;
        const Tensor loss = ops::sum(e * e);
        loss.backward();
        losses.push_back(loss.item());
        w -= rate * tw.grad().item();
        b -= rate * tb.grad().item();
      }
      return std::pair(w, b);
    };
    std::vector<float> losses;
    const auto [w, b] = train(0.01F, 400, losses);
    REQUIRE(losses.front() == 285.0F);
    REQUIRE(w == Approx(2.0).margin(0.005));
    REQUIRE(b == Approx(1.0).margin(0.005));
    losses.clear();
    train(1.0F, 5, losses);
    REQUIRE(losses.back() > 1e6F);
  });
}

TEST_CASE("one tensor in both places of an operation gets both gradients") {
  on_each_device([](Device& d) {
    const Tensor x = leaf(d, {3}, {1, -2, 3});
    ops::sum(x * x).backward();
    require_close(x.grad(), {2, -4, 6});
    const Tensor a = leaf(d, {3}, {1, 2, 3});
    ops::sum(a + a).backward();
    require_close(a.grad(), {2, 2, 2});
    // d sum(x x) / dx = (x 1) + (1 x) transposed: row sums down, column sums across.
    const Tensor m = leaf(d, {2, 2}, {1, 2, 3, 4});
    ops::sum(ops::matmul(m, m)).backward();
    require_close(m.grad(), {7, 11, 9, 13});
  });
}

TEST_CASE("passes without zeroing add up, and zero_grad starts anew") {
  on_each_device([](Device& d) {
    Tensor x = leaf(d, {2}, {3, 4});
    for (int i = 0; i < 2; ++i) ops::sum(x * x).backward();
    require_close(x.grad(), {12, 16});
    x.zero_grad();
    ops::sum(x * x).backward();
    require_close(x.grad(), {6, 8});
  });
}

TEST_CASE("a second backward needs a second forward") {
  on_each_device([](Device& d) {
    const Tensor w = leaf(d, {}, {3});
    const Tensor e = 2.0F * w - 1.0F;
    const Tensor loss = e * e;
    REQUIRE(loss.item() == 25.0F);
    loss.backward();
    REQUIRE(w.grad().item() == 20.0F);
    const std::string used = "[backward] this graph was used already; run the forward pass again";
    REQUIRE(message_of([&] { loss.backward(); }) == used);
    // Also where only a part was used; and nothing was added meanwhile.
    REQUIRE(message_of([&] { (e * w).backward(); }) == used);
    REQUIRE(w.grad().item() == 20.0F);
  });
}

TEST_CASE("paths that part and meet again are summed") {
  on_each_device([](Device& d) {
    const Tensor x = leaf(d, {2}, {1, 2});
    const Tensor h = x * 3.0F;
    const Tensor a = ops::reshape(h, {2, 1});
    const Tensor b = h + h;
    ops::sum(ops::reshape(a, {2}) * b + h).backward();  // 2 h^2 + h, h = 3x
    require_close(x.grad(), {3 * (4 * 3 + 1), 3 * (4 * 6 + 1)});
  });
}

TEST_CASE("a gradient that was passed on is shared with no leaf") {
  on_each_device([](Device& d) {
    Tensor a = leaf(d, {2}, {1, 2}), b = leaf(d, {2}, {3, 4});
    ops::sum(a + b).backward();
    a.zero_grad();
    require_close(a.grad(), {0, 0});
    require_close(b.grad(), {1, 1});
    // Two interior results share one passed gradient; one of them gets a second contribution.
    const Tensor p = a * 2.0F, q = b * 2.0F;
    const Tensor s = p + q;
    ops::sum(s * Tensor::of(d, {2}, {1, 10}) + p).backward();
    require_close(a.grad(), {4, 22});
    require_close(b.grad(), {3, 21});
  });
}

TEST_CASE("a leaf's given place is added to") {
  on_each_device([](Device& d) {
    const Tensor slab = Tensor::full(d, {6}, 1);
    Tensor w = leaf(d, {2, 2}, {1, 2, 3, 4});
    w.set_grad(slab.alias(1, {2, 2}));
    ops::sum(ops::linear(Tensor::of(d, {1, 2}, {5, 7}), w)).backward();
    require_close(slab, {1, 6, 8, 6, 8, 1});
    ops::sum(w + 0.0F).backward();
    require_close(slab, {1, 7, 9, 7, 9, 1});
  });
}

TEST_CASE("constants and NoGrad leave no graph") {
  on_each_device([](Device& d) {
    const Tensor c = Tensor::of(d, {2}, {1, 2});
    REQUIRE_FALSE((c * c).requires_grad());
    const Tensor x = leaf(d, {2}, {1, 2});
    {
      const NoGrad outer;
      { const NoGrad inner; }
      REQUIRE_FALSE(grad_enabled());
      const std::uint64_t before = d.pool().bytes_in_use();
      Tensor y = ops::exp(x);
      for (int i = 0; i < 10; ++i) y = ops::exp(y * 0.1F);
      REQUIRE_FALSE(y.requires_grad());
      REQUIRE(d.pool().bytes_in_use() == before + d.caps().alignment);
    }
    REQUIRE(grad_enabled());
    REQUIRE((x * c).requires_grad());
    REQUIRE_FALSE((x * c).detach().requires_grad());
    REQUIRE(message_of([&] { ops::sum(c).backward(); }).find("[backward] this tensor has no graph") == 0);
    REQUIRE(message_of([&] { (x * c).backward(); }) == "[backward] starts from a scalar; this tensor is (2)");
    ops::sum(x * c).backward();
    REQUIRE_FALSE(c.grad().defined());
  });
}

TEST_CASE("a change in place between forward and backward is noticed") {
  on_each_device([](Device& d) {
    Tensor x = leaf(d, {2}, {1, 2}), y = leaf(d, {2}, {3, 4});
    const std::vector<float> other{5, 6};
    const Tensor product = ops::sum(x * y);
    x.assign(other);
    REQUIRE(message_of([&] { product.backward(); }) ==
            "[mul] a tensor its backward needs was changed in place after the forward pass");
    Tensor z = leaf(d, {2}, {1, 2});
    const Tensor total = ops::sum(z + y);  // needs no values
    z.assign(other);
    total.backward();
    require_close(z.grad(), {1, 1});
  });
}

TEST_CASE("interior gradients and kept values are freed by the backward") {
  on_each_device([](Device& d) {
    const Tensor x = drawn(d, "freed", {64, 64}).set_requires_grad();
    ops::sum(ops::tanh(x)).backward();
    const std::uint64_t before = d.pool().bytes_in_use();
    const Tensor h = ops::tanh(x);
    const Tensor loss = ops::sum(ops::exp(ops::tanh(h)));
    loss.backward();
    REQUIRE_FALSE(h.grad().defined());
    REQUIRE(d.pool().bytes_in_use() == before + 64 * 64 * 4 + d.caps().alignment);  // h and the loss
  });
}

TEST_CASE("a recomputed part has the values and gradients of the part") {
  on_each_device([](Device& d) {
    const Tensor w = leaf(d, {3}, {0.5F, -1, 2});
    int calls = 0;
    const auto part = [&](const Tensor& x) {
      ++calls;
      return x + ops::tanh(x * w) * x;
    };
    const auto pass = [&](bool again) {
      w.grad().defined() ? Tensor(w).zero_grad() : void();
      const Tensor x = leaf(d, {3}, {1, 2, -3});
      const Tensor h = x * x;
      const Tensor y = again ? recomputed("part", h, part) : part(h);
      const Tensor loss = ops::sum(y * y);
      const std::vector<float> values = y.to_host();
      loss.backward();
      return std::tuple(values, x.grad().to_host(), w.grad().to_host());
    };
    const auto wanted = pass(false);
    REQUIRE(calls == 1);
    REQUIRE(pass(true) == wanted);
    REQUIRE(calls == 3);
    const Tensor constant = Tensor::of(d, {3}, {1, 2, 3});
    recomputed("part", constant, part).to_host();
    REQUIRE(calls == 4);
    const NoGrad no_grad;
    recomputed("part", leaf(d, {3}, {1, 2, 3}), part).to_host();
    REQUIRE(calls == 5);
  });
}

TEST_CASE("a chain of a million nodes is traversed and destroyed without recursion") {
  const auto cpu = make_cpu_device(1);
  const Tensor x = leaf(*cpu, {}, {1});
  const auto chain = [&] {
    Tensor y = x;
    for (int i = 0; i < 1000000; ++i) y = ops::reshape(y, {});
    return y;
  };
  chain().backward();
  REQUIRE(x.grad().item() == 1.0F);
  REQUIRE(chain().requires_grad());  // destroyed unused
}

}  // namespace llmtool::test
