// The reference device itself: late execution in any order, wide scalars, derivatives, and its refusals.
#include <cmath>
#include <cstring>
#include <vector>

#include "device/pool.h"
#include "ref/arguments.h"
#include "ref/reference_device.h"
#include "support/catch.h"

using namespace llmtool;
using ref::Dual;

namespace {

View view_of(Device& device, std::uint64_t elements, DType dtype = DType::f32) {
  const Allocation a = device.pool().take(elements * 4);
  return {a.block, a.offset, elements * 4, dtype};
}
void stage(Device& device, const View& view, const std::vector<float>& values) {
  device.stage(view, std::as_bytes(std::span(values)));
}
UnaryParams unary(std::uint32_t n, float a = 0, float b = 0) {
  UnaryParams p{};
  p.n = n;
  p.a = a;
  p.b = b;
  return p;
}

}  // namespace

TEST_CASE("reference device: nothing happens before submit, nothing is read before wait") {
  ReferenceDevice<double> device;
  const View x = view_of(device, 2), y = view_of(device, 2);
  stage(device, x, {1, 2});
  launch<KernelId::affine>(device, {x, y}, unary(2, 3, 1));
  const FetchedPtr out = device.fetch(y);
  float before = 0;
  std::memcpy(&before, y.block->host + y.offset, 4);
  CHECK(std::isnan(before));
  const Ticket ticket = device.submit();
  CHECK_FALSE(out->ready());
  device.wait(ticket);
  CHECK(out->as<float>() == std::vector<float>{4, 7});
}

TEST_CASE("reference device: any order that respects the hazards gives the same bytes") {
  const auto run = [](std::uint64_t seed) {
    ReferenceDevice<double> device(seed);
    std::vector<View> v;
    for (int i = 0; i < 4; ++i) v.push_back(view_of(device, 4));
    for (std::size_t i = 0; i < 4; ++i) stage(device, v[i], {1, 2, 3, static_cast<float>(i)});
    for (std::size_t i = 0; i < 40; ++i) {
      UnaryParams p = unary(4, 0.5f, static_cast<float>(i % 7));
      p.accumulate = i % 3 == 0;
      launch<KernelId::affine>(device, {v[i * 5 % 4], v[(i * 3 + 1) % 4]}, p);
      if (i % 9 == 4 && i % 4 != 2) device.copy(v[i % 4], v[2]);
    }
    const FetchedPtr all[] = {device.fetch(v[0]), device.fetch(v[1]), device.fetch(v[2]), device.fetch(v[3])};
    device.synchronise();
    std::vector<float> values;
    for (const auto& f : all) {
      const auto part = f->as<float>();
      values.insert(values.end(), part.begin(), part.end());
    }
    return values;
  };
  const auto first = run(1);
  for (std::uint64_t seed = 2; seed < 12; ++seed) CHECK(run(seed) == first);
}

TEST_CASE("reference device: scalars are wider than f32, through launches and copies") {
  ReferenceDevice<double> device;
  const View x = view_of(device, 1), y = view_of(device, 1), z = view_of(device, 1);
  device.fill(x, 0);
  device.poke(x, 0, 1.0 / 3);
  launch<KernelId::exp>(device, {x, y}, unary(1));
  device.copy(y, z);
  const FetchedPtr out = device.fetch(z);
  CHECK(device.peek(z).at(0) == std::exp(1.0 / 3));
  device.synchronise();
  CHECK(out->as<float>().at(0) == static_cast<float>(std::exp(1.0 / 3)));
  CHECK_THROWS_AS(device.poke(x, 1, 0.0), InternalError);
}

TEST_CASE("reference device: dual numbers carry exact derivatives") {
  ReferenceDevice<Dual> device;
  const View x = view_of(device, 3), y = view_of(device, 3), z = view_of(device, 3);
  stage(device, x, {0.5f, -1.0f, 2.0f});
  device.poke(x, 0, Dual(0.5, 1));
  device.poke(x, 1, Dual(-1.0, 1));
  launch<KernelId::tanh>(device, {x, y}, unary(3));
  launch<KernelId::relu>(device, {x, z}, unary(3));
  const auto tanh = device.peek(y), relu = device.peek(z);
  CHECK(tanh[0].d == Approx(1 - std::pow(std::tanh(0.5), 2)).epsilon(1e-14));
  CHECK(tanh[1].d == Approx(1 - std::pow(std::tanh(1.0), 2)).epsilon(1e-14));
  CHECK(tanh[2].d == 0);
  CHECK((relu[0].d == 1 && relu[1].d == 0 && relu[1].v == 0 && relu[2].v == 2));

  // One direction through softmax and cross entropy against the gradient that the kernel writes.
  const View logits = view_of(device, 4), target = view_of(device, 1, DType::i32), scale = view_of(device, 1);
  const View loss = view_of(device, 1);
  stage(device, logits, {0.1f, -0.3f, 0.7f, 0.2f});
  const std::int32_t hot = 2;
  device.stage(target, std::as_bytes(std::span(&hot, 1)));
  stage(device, scale, {0.25f});
  device.poke(logits, 1, Dual(-0.3, 1));
  launch<KernelId::cross_entropy>(device, {logits, target, scale, loss}, CrossEntropyParams{1, 4, -1, 1});
  CHECK(device.peek(loss)[0].d == Approx(device.peek(logits)[1].v).epsilon(1e-12));
}

TEST_CASE("reference device: a kernel cannot touch what it has not declared") {
  ref::Argument<double> in(Access::read, false, "k"), out(Access::write, false, "k");
  ref::Argument<double> sum(Access::accumulate, false, "k"), more(Access::accumulate, true, "k");
  for (auto* argument : {&in, &out, &sum, &more}) argument->load({1.0, 2.0}, {0, 0});
  CHECK(in.get(1) == 2.0);
  CHECK_THROWS_AS(in.get(2), InternalError);
  CHECK_THROWS_AS(in.set(0, 1), InternalError);
  CHECK_THROWS_AS(out.get(0), InternalError);
  CHECK_THROWS_AS(out.put(0, 1), InternalError);
  sum.put(0, 5);
  CHECK_THROWS_AS(sum.put(0, 5), InternalError);
  CHECK(sum.values()[0] == 5);
  more.put(0, 5);
  CHECK(more.values()[0] == 6);

  ReferenceDevice<double> device;
  const View x = view_of(device, 2), y = view_of(device, 2);
  stage(device, x, {1, 2});
  launch<KernelId::exp>(device, {x, y}, unary(3));  // one element beyond the views
  CHECK_THROWS_AS(device.submit(), InternalError);
}

TEST_CASE("reference device: results that leave gaps leave what was there") {
  ReferenceDevice<double> device;
  const View a = view_of(device, 2), b = view_of(device, 2), c = view_of(device, 6);
  stage(device, a, {1, 2});
  stage(device, b, {3, 4});
  stage(device, c, {9, 9, 9, 9, 9, 9});
  MatmulParams p{};
  p.form = LLMTOOL_MATMUL_NN;
  p.m = 2, p.n = 2, p.k = 1;
  p.lda = 1, p.ldb = 2, p.ldc = 3;
  p.batch0 = p.batch1 = 1;
  launch<KernelId::matmul>(device, {a, b, View{}, View{}, c}, p);
  CHECK(device.peek(c) == std::vector<double>{3, 4, 9, 6, 8, 9});
}
