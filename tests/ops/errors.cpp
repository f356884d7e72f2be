// What operations refuse, and in which words.
#include "device/counting_device.h"
#include "support.h"

namespace llmtool::test {

TEST_CASE("operands on two devices are refused, both named") {
  CountingDevice a;
  ReferenceDevice<double> b;
  const Tensor x = Tensor::zeros(a, {2}), y = Tensor::zeros(b, {2});
  REQUIRE(message_of([&] { x + y; }) == "[add] operands on two devices: counting and reference");
  REQUIRE(message_of([&] {
            ops::linear(Tensor::zeros(a, {1, 2}), Tensor::zeros(b, {3, 2}));
          }) == "[linear] operands on two devices: counting and reference");
}

TEST_CASE("shapes that do not fit are refused, both named") {
  CountingDevice d;
  const auto t = [&](Shape shape) { return Tensor::zeros(d, shape); };
  const auto message = message_of<std::function<void()>>;
  REQUIRE(message([&] { t({2, 3}) + t({2}); }) == "[add] shapes do not broadcast: a (2,3), b (2)");
  REQUIRE(message([&] {
            ops::matmul(t({2, 8, 64}), t({100, 32}));
          }) == "[matmul] inner sizes differ: a (2,8,64), b (100,32)");
  REQUIRE(message([&] {
            ops::matmul(t({4}), t({4, 2}));
          }) == "[matmul] needs two dimensions at least: a (4), b (4,2)");
  REQUIRE(message([&] {
            ops::matmul(t({2, 1, 3}), t({4, 3, 2}));
          }) == "[matmul] shapes do not broadcast: a (2), b (4)");
  REQUIRE(message([&] {
            ops::linear(t({5, 4}), t({3, 5}));
          }) == "[linear] inner sizes differ: x (5,4), weight (3,5)");
  REQUIRE(message([&] { ops::linear(t({5, 4}), t({3, 4}), t({4})); }) == "[linear] bias must be (3), is (4)");
  REQUIRE(message([&] {
            ops::layer_norm(t({2, 4}), t({3}), {}, 1e-5F);
          }) == "[layer_norm] gain must be (4) for x (2,4), is (3)");
  REQUIRE(message([&] {
            ops::reshape(t({2, 3}), {4, -1});
          }) == "[reshape] (2,3) has 6 elements, which do not fill (4,-1)");
  REQUIRE(message([&] {
            ops::permute(t({2, 3}), {0, 0});
          }) == "[permute] (0,0) is no order of the 2 dimensions of (2,3)");
  REQUIRE(message([&] {
            ops::sum_to(t({2, 3}), {2});
          }) == "[sum_to] shapes do not broadcast: a (2,3), b (2)");
  REQUIRE(message([&] { ops::softmax(t({})); }) == "[softmax] needs at least one dimension, not a scalar");
  REQUIRE(message([&] {
            ops::swiglu(t({2, 3}));
          }) == "[swiglu] the last dimension is gate and up, so must be even: (2,3)");
  REQUIRE(message([&] {
            ops::attention(t({1, 2, 10}), {3, 2});
          }) == "[attention] 2 key/value heads do not divide 3 heads");
  REQUIRE(message([&] {
            ops::attention(t({1, 2, 10}), {2, 2});
          }) == "[attention] qkv must be (B,T,(2+2*2)*D), is (1,2,10)");
  REQUIRE(message([&] {
            ops::dropout(t({2}), {1.5F, 0, 0, {}});
          }) == "[dropout] dropout must be at least 0 and below 1, is 1.5");
  REQUIRE(message([&] { ops::mse_loss(t({2}), t({3})); }) == "[mse_loss] shapes differ: a (2), b (3)");
  REQUIRE(message([&] { Shape{1, 1, 1, 1, 1}; }) == "[shape] 5 dimensions; a tensor has at most 4");
}

TEST_CASE("ids and targets out of range are refused with the id and the size") {
  CountingDevice d;
  REQUIRE(message_of([&] {
            ops::Index(d, std::vector{0, 700}, 128);
          }) == "[index] id 700 at position 1 lies outside 0 to 127 (128 in all)");
  REQUIRE(message_of([&] { ops::Index(d, std::vector{ops::ignore_index}, 128); }) ==
          "[index] id -100 at position 0 lies outside 0 to 127 (128 in all)");
  REQUIRE(message_of([&] {
            ops::Targets(d, std::vector{1, -1}, 35);
          }) == "[targets] id -1 at position 1 lies outside 0 to 34 (35 in all)");
  const ops::Targets three(d, std::vector{1, 2, 3}, 5);
  REQUIRE(message_of([&] {
            ops::cross_entropy(Tensor::zeros(d, {2, 5}), three);
          }) == "[cross_entropy] (2,5) has 2 rows of 5 classes; the targets are 3 of 5 classes");
}

TEST_CASE("integers are no operands") {
  CountingDevice d;
  const Tensor ids = Tensor::of_ints(d, {2}, std::vector<std::int32_t>{1, 2});
  REQUIRE(message_of([&] { ids + ids; }) == "[add] takes f32 tensors, not i32 (2)");
  REQUIRE(message_of([&] { Tensor(ids).set_requires_grad(); }) ==
          "[requires_grad] only f32 tensors have gradients");
}

TEST_CASE("tensors beyond a limit are refused, the limit named") {
  DeviceCaps caps;
  caps.max_binding_bytes = 1024;
  CountingDevice d(caps);
  REQUIRE(message_of([&] { Tensor::empty(d, {257}); }) ==
          "[tensor] (257) takes 1028 bytes, above max_binding_bytes 1024 of the device counting");
  CountingDevice wide;
  const std::string text = message_of([&] { Tensor::empty(wide, {65536, 65536}); });
  REQUIRE(text == "[tensor] (65536,65536) has more than the 4294967295 elements that kernels can number");
  REQUIRE(message_of([&] { Tensor::empty(wide, {2, 0}); }) == "[tensor] extents must be at least 1: (2,0)");
}

TEST_CASE("the result of head_loss is a root, its weight a leaf") {
  ReferenceDevice<double> d;
  const Tensor x = drawn(d, "x", {2, 3}).set_requires_grad();
  const Tensor w = drawn(d, "w", {4, 3}).set_requires_grad();
  const ops::Targets targets(d, std::vector{1, 2}, 4);
  const Tensor loss = ops::head_loss(x, w, targets);
  REQUIRE(message_of([&] { loss * 2.0F; }) ==
          "[affine] the result of head_loss can only be the root of backward()");
  REQUIRE(message_of([&] { ops::head_loss(x, w * 2.0F, targets); }) ==
          "[head_loss] the weight must be a leaf: its gradient is made in the forward");
}

}  // namespace llmtool::test
