// What every device shares: argument checks, counters, tickets, fetches; and the counting device.
#include "device/device.h"

#include <cstring>
#include <vector>

#include "device/counting_device.h"
#include "device/pool.h"
#include "support/catch.h"

using namespace llmtool;

namespace {

View view_of(CountingDevice& device, std::uint64_t elements, DType dtype = DType::f32) {
  const Allocation a = device.pool().take(elements * 4);
  return {a.block, a.offset, elements * 4, dtype};
}

UnaryParams unary(std::uint32_t n) {
  UnaryParams p{};
  p.n = n;
  return p;
}

}  // namespace

TEST_CASE("kernels.def: names, accesses and sizes arrive in the table") {
  CHECK(kernel_info(KernelId::matmul).name == "matmul");
  CHECK(kernel_info(KernelId::matmul).arity() == 5);
  CHECK(kernel_info(KernelId::matmul).optional(2));
  CHECK_FALSE(kernel_info(KernelId::matmul).optional(4));
  CHECK(kernel_info(KernelId::matmul).access(2) == Access::read);
  CHECK(kernel_info(KernelId::matmul).access(3) == Access::write);
  CHECK(kernel_info(KernelId::matmul).access(4) == Access::accumulate);
  CHECK(kernel_info(KernelId::adamw).access(0) == Access::update);
  CHECK(kernel_info(KernelId::sgd).access(2) == Access::update);
  CHECK(kernel_info(KernelId::attention).grid == Grid::heads);
  CHECK(kernel_info(KernelId::add).params_bytes == sizeof(BroadcastParams));
  CHECK(KernelParams<KernelId::cross_entropy>::arity == 4);
}

TEST_CASE("device: a launch must fit its line of kernels.def") {
  CountingDevice device;
  const View x = view_of(device, 8), y = view_of(device, 8), ids = view_of(device, 8, DType::i32);
  const UnaryParams p = unary(8);
  CHECK_NOTHROW(launch<KernelId::exp>(device, {x, y}, p));

  const std::vector<View> three{x, y, y};
  CHECK_THROWS_AS(device.launch(KernelId::exp, three, &p, sizeof p), InternalError);
  const std::vector<View> two{x, y};
  CHECK_THROWS_AS(device.launch(KernelId::exp, two, &p, sizeof p - 4), InternalError);
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, ids}, p)), InternalError);
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, View{}}, p)), InternalError);

  GatherParams gather{2, 4, 2};
  CHECK_NOTHROW(launch<KernelId::gather_rows>(device, {x, ids, y}, gather));
  CHECK_THROWS_AS((launch<KernelId::gather_rows>(device, {x, x, y}, gather)), InternalError);

  // Out of the block, and not on a word.
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, View{y.block, y.block->bytes - 4, 32}}, p)),
                  InternalError);
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, View{y.block, ~std::uint64_t{0} - 3, 32}}, p)),
                  InternalError);
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, View{y.block, 2, 32}}, p)), InternalError);
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, View{y.block, 0, 30}}, p)), InternalError);
  CHECK_THROWS_AS((launch<KernelId::exp>(device, {x, View{nullptr, 0, 32}}, p)), InternalError);

  // StepParams and StepStats: words of any dtype, but all of them.
  DropoutParams dropout{};
  CHECK_NOTHROW(launch<KernelId::dropout>(device, {x, view_of(device, 12, DType::i32), y}, dropout));
  CHECK_NOTHROW(launch<KernelId::dropout>(device, {x, view_of(device, 12), y}, dropout));
  CHECK_THROWS_AS((launch<KernelId::dropout>(device, {x, view_of(device, 11), y}, dropout)), InternalError);
  CHECK(device.stats().launches == 4);
  CHECK(device.stats().launches_of[static_cast<std::size_t>(KernelId::exp)] == 1);
  CHECK(device.stats().launches_of[static_cast<std::size_t>(KernelId::dropout)] == 2);
}

TEST_CASE("device: an argument above the device's limit names the limit and what to change") {
  DeviceCaps caps;
  caps.max_binding_bytes = 64;
  CountingDevice device(caps);
  const View x = view_of(device, 17), y = view_of(device, 16);
  try {
    launch<KernelId::exp>(device, {x, y}, unary(16));
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::world);
    CHECK(std::string(error.what()) ==
          "[exp] argument 0 is one piece of 68 bytes, above this device's max_binding_bytes of 64");
    CHECK(error.hint() == "lower batch_size, block_size or vocab_size");
  }
  CHECK_NOTHROW(launch<KernelId::exp>(device, {y, y}, unary(16)));
}

TEST_CASE("device: copy, fill and stage check their ranges and are counted") {
  CountingDevice device;
  const View x = view_of(device, 8), y = view_of(device, 8), z = view_of(device, 4);
  device.copy(x, y);
  device.fill(x, 0);
  const std::vector<float> values(8, 1.0f);
  device.stage(x, std::as_bytes(std::span(values)));
  CHECK(device.stats().copies == 1);
  CHECK(device.stats().fills == 1);
  CHECK(device.stats().bytes_staged == 32);
  CHECK_THROWS_AS(device.copy(x, z), InternalError);
  CHECK_THROWS_AS(device.copy(x, View{}), InternalError);
  CHECK_THROWS_AS(device.copy(View{x.block, x.offset, 16}, View{x.block, x.offset + 8, 16}), InternalError);
  CHECK_NOTHROW(device.copy(View{x.block, x.offset, 16}, View{x.block, x.offset + 16, 16}));
  CHECK_THROWS_AS(device.stage(z, std::as_bytes(std::span(values))), InternalError);
  CHECK_THROWS_AS(device.fill(View{}, 0), InternalError);
}

TEST_CASE("device: a fetch is readable once its own submission was waited for") {
  CountingDevice device;
  const View x = view_of(device, 3);
  const FetchedPtr first = device.fetch(x);
  CHECK_FALSE(first->ready());
  CHECK_THROWS_AS(first->bytes(), InternalError);
  const Ticket one = device.submit();
  CHECK(one == 1);
  const FetchedPtr second = device.fetch(x);  // of the next submission
  device.wait(one);
  CHECK(first->ready());
  CHECK_FALSE(second->ready());
  CHECK(first->as<float>() == std::vector<float>(3, 0.0f));
  CHECK(first->as<std::int32_t>() == std::vector<std::int32_t>(3, 0));
  CHECK_THROWS_AS(first->as<double>(), InternalError);
  CHECK_THROWS_AS(device.wait(2), InternalError);

  const Ticket two = device.submit();
  const Ticket three = device.submit();
  device.wait(three);  // an earlier one is done too
  CHECK(second->ready());
  device.wait(two);
  device.wait(three);
  device.wait(0);
  CHECK(device.submitted() == 3);
  CHECK(device.stats().submits == 3);
  CHECK(device.stats().waits == 2);
  CHECK(device.stats().last_waited == 3);
  CHECK(device.stats().fetches == 2);
  CHECK(device.stats().bytes_fetched == 24);
  device.synchronise();
  CHECK(device.stats().waits == 3);
  CHECK(device.submitted() == 4);
}

TEST_CASE("counting device: holds no memory, counts it exactly") {
  CountingDevice device;
  const std::uint64_t terabyte = std::uint64_t{1} << 40;
  const Allocation a = device.pool().take(terabyte);
  CHECK(a.block->host == nullptr);
  CHECK(device.stats().block_bytes == terabyte);
  CHECK(device.pool().bytes_in_use() == terabyte);
  device.pool().give(a);
  device.pool().trim();
  CHECK(device.stats().block_bytes == 0);
}

TEST_CASE("counting device: the launches of two equal steps are equal") {
  CountingDevice device;
  const auto step = [&](float a) {
    const Allocation x = device.pool().take(64), y = device.pool().take(64);
    UnaryParams p = unary(16);
    p.a = a;
    launch<KernelId::affine>(device, {View{x.block, x.offset, 64}, View{y.block, y.offset, 64}}, p);
    launch<KernelId::exp>(device, {View{y.block, y.offset, 64}, View{x.block, x.offset, 64}}, p);
    device.pool().give(x);
    device.pool().give(y);
    device.submit();
    return device.take_launches();
  };
  CHECK(step(1).empty());
  device.record_launches(true);
  const auto first = step(1), second = step(1), other = step(2);
  REQUIRE(first.size() == 2);
  CHECK(first[0].id == KernelId::affine);
  CHECK(first[0].views[1].bytes == 64);
  CHECK(first == second);
  CHECK_FALSE(first == other);
}
