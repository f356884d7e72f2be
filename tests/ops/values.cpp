// Operations on numbers small enough to check by hand.
#include <limits>

#include "support.h"

namespace llmtool::test {

TEST_CASE("broadcast sum: gradients are counts") {
  on_each_device([](Device& d) {
    const Tensor a = leaf(d, {2, 3}, {1, 2, 3, 4, 5, 6}), b = leaf(d, {3}, {1, 2, 3});
    ops::sum(a + b).backward();
    require_close(a.grad(), {1, 1, 1, 1, 1, 1});
    require_close(b.grad(), {2, 2, 2});
  });
}

TEST_CASE("batched product, permutation, transposition, means") {
  on_each_device([](Device& d) {
    const Tensor a = Tensor::of(d, {2, 1, 2}, {1, 2, 3, 4}), b = Tensor::of(d, {2, 2, 1}, {5, 6, 7, 8});
    require_close(ops::matmul(a, b), {17, 53});
    const Tensor x = Tensor::of(d, {2, 3}, {1, 2, 3, 4, 5, 6});
    require_close(ops::permute(x, {1, 0}), {1, 4, 2, 5, 3, 6});
    REQUIRE(ops::transpose(x).shape() == Shape{3, 2});
    require_close(ops::mean(x), {3.5});
    require_close(ops::mean_last(x), {2, 5});
    REQUIRE(ops::sum_last(x, true).shape() == Shape{2, 1});
    require_close(ops::sum_to(x, {3}), {5, 7, 9});
    require_close(2.0F * x - 1.0F, {1, 3, 5, 7, 9, 11});
  });
}

TEST_CASE("powers and derivatives at the edges") {
  on_each_device([](Device& d) {
    const Tensor a = leaf(d, {3}, {2, -3, 1});
    const Tensor cubes = ops::pow(a, 3.0F);
    require_close(cubes, {8, -27, 1}, 1e-4);
    ops::sum(cubes).backward();
    require_close(a.grad(), {12, 27, 3}, 1e-4);  // n a^(n-1)
    const auto slope_at_0 = [&](Tensor (*f)(const Tensor&)) {
      const Tensor x = leaf(d, {1}, {0});
      ops::sum(f(x)).backward();
      return x.grad().item();
    };
    REQUIRE(slope_at_0(ops::relu) == 0.0F);
    REQUIRE(slope_at_0(ops::tanh) == 1.0F);
    REQUIRE(slope_at_0(ops::gelu) == 0.5F);
    require_close(ops::gelu(Tensor::of(d, {3}, {0, 1, -1})), {0, 0.841192, -0.158808});
    require_close(ops::gelu_exact(Tensor::of(d, {3}, {0, 1, -1})), {0, 0.841345, -0.158655});
    require_close(ops::silu(Tensor::of(d, {2}, {0, 1})), {0, 0.731059});
  });
}

TEST_CASE("gathered rows collect their gradients") {
  on_each_device([](Device& d) {
    const auto grad_of = [&](const std::vector<std::int32_t>& ids) {
      const Tensor table = leaf(d, {3, 2}, {1, 2, 3, 4, 5, 6});
      ops::sum(ops::gather_rows(table, ops::Index(d, ids, 3))).backward();
      return table.grad().to_host();
    };
    require_close(grad_of({0, 2}), {1, 1, 0, 0, 1, 1});
    require_close(grad_of({0, 0}), {2, 2, 0, 0, 0, 0});
  });
}

TEST_CASE("an index keeps its plan in step with its ids") {
  ReferenceDevice<double> device;
  ops::Index index(device, std::vector{5, 1, 5, 0}, 6);
  //                    count, unique ids,  starts,        positions
  const std::vector<std::int32_t> first{3, 0, 1, 5, 0, 0, 1, 2, 4, 0, 3, 1, 0, 2};
  REQUIRE(index.plan().to_host_ints() == first);
  {
    const NoGrad no_grad;
    index.set(std::vector{2, 2, 2, 2});
    REQUIRE_FALSE(ops::Index(device, std::vector{1}, 6).plan().defined());
  }
  const std::vector<std::int32_t> second{1, 2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 2, 3};
  REQUIRE(index.plan().to_host_ints() == second);
}

TEST_CASE("softmax, and the gradient of cross entropy") {
  on_each_device([](Device& d) {
    require_close(ops::softmax(Tensor::of(d, {3}, {1, 2, 3})), {0.0900306, 0.2447285, 0.6652410});
    require_close(ops::softmax(Tensor::of(d, {3}, {1000, 1001, 1002})), {0.0900306, 0.2447285, 0.6652410});
    require_close(ops::log_softmax(Tensor::of(d, {2}, {1000, 0})), {0, -1000});

    const Tensor logits = leaf(d, {3, 3}, {1, 2, 3, 1, 2, 3, 9, 9, 9});
    const Tensor loss = ops::cross_entropy(logits, ops::Targets(d, std::vector{2, 0, ops::ignore_index}, 3));
    REQUIRE(loss.item() == Approx((-std::log(0.6652410) - std::log(0.0900306)) / 2).epsilon(1e-5));
    loss.backward();  // (p - onehot) / N over the rows that count
    require_close(logits.grad(),
                  {0.0450153, 0.1223642, -0.1673795, -0.4549847, 0.1223642, 0.3326205, 0, 0, 0});
    REQUIRE(logits.to_host()[0] == 1.0F);

    const std::vector<std::int32_t> none(3, ops::ignore_index);
    const Tensor ignored = ops::cross_entropy(logits, ops::Targets(d, none, 3));
    REQUIRE(ignored.item() == 0.0F);
  });
}

TEST_CASE("normalisation of 1 to 4") {
  on_each_device([](Device& d) {
    const Tensor x = Tensor::of(d, {4}, {1, 2, 3, 4}), one = Tensor::full(d, {4}, 1),
                 zero = Tensor::zeros(d, {4});
    require_close(ops::layer_norm(x, one, zero, 1e-5F), {-1.341635, -0.447212, 0.447212, 1.341635});
    require_close(ops::layer_norm(x, one + 1.0F, {}, 1e-5F), {-2.683271, -0.894424, 0.894424, 2.683271});
    require_close(ops::rms_norm(x, one, 1e-5F), {0.365148, 0.730296, 1.095444, 1.460592});
  });
}

TEST_CASE("attention of unit vectors; what is masked weighs exactly nothing") {
  on_each_device([](Device& d) {
    // Rows [q | k | v] with q = k = v = the rows of the unit matrix.
    const Tensor qkv = Tensor::of(d, {1, 2, 6}, {1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1});
    require_close(ops::attention(qkv, {1, 1}), {1, 0, 0.330231, 0.669769}, 1e-5);
    // An infinite value in the future must not reach the past.
    const float inf = std::numeric_limits<float>::infinity();
    const Tensor later = Tensor::of(d, {1, 2, 6}, {1, 0, 1, 0, 1, 0, 0, 1, 0, 1, inf, 1});
    const std::vector<float> out = ops::attention(later, {1, 1}).to_host();
    REQUIRE(out[0] == 1.0F);
    REQUIRE(out[1] == 0.0F);
  });
}

TEST_CASE("rotary positions") {
  on_each_device([](Device& d) {
    const auto turn = [&](const Tensor& x, std::int64_t position) {
      const Tensor table = ops::rotary_table(d, 16, x.shape()[3], 10000);
      return ops::rotary(x, table, 1, position, ops::RotaryStyle::adjacent);
    };
    require_close(turn(Tensor::of(d, {1, 1, 1, 2}, {1, 0}), 1), {0.5403023, 0.8414710});
    require_close(turn(Tensor::of(d, {1, 1, 1, 4}, {1, 0, 1, 0}), 1),
                  {0.5403023, 0.8414710, 0.99995, 0.0099998});
    require_close(turn(Tensor::of(d, {1, 1, 1, 2}, {3, 4}), 0), {3, 4});
    const Tensor x = leaf(d, {1, 1, 1, 2}, {1, 2});
    ops::sum(turn(x, 1)).backward();
    require_close(x.grad(), {1.3817733, -0.3011687});

    // Norms are kept, and products of two turned vectors depend on their distance alone.
    const Tensor q = drawn(d, "q", {1, 1, 1, 4}), k = drawn(d, "k", {1, 1, 1, 4});
    const auto dot = [](const Tensor& a, const Tensor& b) {
      return static_cast<double>(ops::sum(a * b).item());
    };
    REQUIRE(dot(turn(q, 9), turn(q, 9)) == Approx(dot(q, q)).epsilon(1e-5));
    REQUIRE(dot(turn(q, 9), turn(k, 4)) == Approx(dot(turn(q, 5), turn(k, 0))).epsilon(1e-4).margin(1e-5));
    // Heads from `rotated` on are copied.
    const Tensor two = drawn(d, "two", {1, 1, 2, 2});
    const auto turned =
        ops::rotary(two, ops::rotary_table(d, 4, 2, 10000), 1, 3, ops::RotaryStyle::half).to_host();
    REQUIRE(turned[2] == two.to_host()[2]);
    REQUIRE(turned[0] != two.to_host()[0]);
  });
}

TEST_CASE("dropout keeps what the Philox words say, by the global number of the sample") {
  on_each_device([](Device& d) {
    const Tensor params = step_params(d);
    const Tensor ones = Tensor::full(d, {4, 50}, 1);
    const auto kept = ops::dropout(ones, {0.25F, 6, 10, params}).to_host();
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::uint64_t index = 10 * 50 + i;
      const auto block = philox({static_cast<std::uint32_t>(index / 4), 0, 6, 3}, {1, 2});
      const float wanted = block[index % 4] >= 0x40000000U ? 1.0F / 0.75F : 0.0F;
      REQUIRE(kept[i] == wanted);
    }
    // Two micro-batches drop what the one batch drops.
    const Tensor half = ones.alias(0, {2, 50});
    auto both = ops::dropout(half, {0.25F, 6, 10, params}).to_host();
    const auto second = ops::dropout(half, {0.25F, 6, 12, params}).to_host();
    both.insert(both.end(), second.begin(), second.end());
    REQUIRE(both == kept);
    REQUIRE(ops::dropout(half, {}).storage() == half.storage());
  });
}

TEST_CASE("cached attention gives the bits of attention over the whole text") {
  on_each_device([](Device& d) {
    const NoGrad no_grad;
    const ops::AttentionHeads heads{4, 2};
    const Tensor qkv = drawn(d, "cached", {1, 9, 8 * 4});
    const std::vector<float> whole = ops::attention(qkv, heads).to_host();
    for (const std::int64_t chunk : {1, 2, 4, 9}) {
      const Tensor k = Tensor::zeros(d, {12, 8}), v = Tensor::zeros(d, {12, 8});
      std::vector<float> parts;
      for (std::int64_t t = 0; t < 9; t += chunk) {
        const std::int64_t n = std::min<std::int64_t>(chunk, 9 - t);
        const auto out = ops::attention_cached(qkv.alias(t * 32, {1, n, 32}), heads, k, v, t).to_host();
        parts.insert(parts.end(), out.begin(), out.end());
      }
      REQUIRE(parts == whole);
      REQUIRE(message_of([&] { ops::attention_cached(qkv, heads, k, v, 4); }) ==
              "[attention_cached] positions 4 to 12 in a cache of 12");
    }
  });
}

}  // namespace llmtool::test
