// A Vulkan device that has too little memory or is lost in the middle: errors that say so, and nothing hangs,
// destructors included. Not here: what the command line makes of it (tests/cli/vulkan_test.cpp).
#include "base/cat.h"
#include "gpu/memory.h"
#include "gpu/support.h"
#include "model/steps.h"
#include "support/scoped_variable.h"

using namespace llmtool;
using gpu_test::Memory;

namespace {

/// The Error that `body` must throw: a world_error with something to do.
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::world);
    CHECK(!error.hint().empty());
    return error.what();
  }
  return "none";
}

bool lost(const std::string& message) { return message.find("VK_ERROR_DEVICE_LOST") != std::string::npos; }

}  // namespace

TEST_CASE("failure: too little memory names the need and what there is, and ends nothing") {
  const ScopedVariable variable("LLMTOOL_VK_MAX_MEMORY", cat(1 << 20));
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  CHECK(device->caps().memory_bytes == 1 << 20);
  Memory some(*device, 1000);
  const std::string error = error_of([&] { Memory more(*device, 1 << 20); });
  CHECK(error.find("out of memory") != std::string::npos);
  CHECK(error.find(cat(4 << 20)) != std::string::npos);
  CHECK(error.find(cat(1 << 20)) != std::string::npos);
  some.fill(3);
  Memory rest(*device, 10);
  rest.fill(4);
  CHECK(some.read(0, 2) == std::vector<float>{3, 3});
}

TEST_CASE("failure: a buffer above what the device can make") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::string error = error_of([&] { Memory all(*device, std::uint64_t{1} << 50); });
  CHECK(error.find(cat(std::uint64_t{1} << 52)) != std::string::npos);
  Memory some(*device, 10);
  some.fill(3);
  CHECK(some.read(8, 2) == std::vector<float>{3, 3});
}

TEST_CASE("failure: everything after a lost device is refused, and nothing hangs") {
  {
    const ScopedVariable variable("LLMTOOL_VK_LOSE_AFTER", "3");
    const auto device = gpu_test::device_or_none();
    if (device == nullptr) return;
    Memory x(*device, 5);
    x.fill(1);
    const FetchedPtr first = device->fetch(x.view);
    const Ticket ticket = device->submit();
    x.fill(2);
    device->submit();
    x.fill(3);
    const FetchedPtr third = device->fetch(x.view);
    CHECK(lost(error_of([&] { device->submit(); })));
    CHECK(lost(error_of([&] { device->submit(); })));
    CHECK(lost(error_of([&] { x.fill(4); })));
    CHECK(lost(error_of([&] { launch<KernelId::affine>(*device, {x.view, x.view}, {5, 1, 1, 0}); })));
    CHECK(lost(error_of([&] { device->fetch(x.view); })));
    CHECK(lost(error_of([&] { x.stage(0, {1, 2}); })));
    CHECK(lost(error_of([&] { device->synchronise(); })));
    CHECK_FALSE(third->ready());
    // What was done before it was lost may still come, or the loss is said again.
    const std::string waited = error_of([&] { device->wait(ticket); });
    CHECK((waited == "none" || lost(waited)));
    if (waited == "none") CHECK(first->as<float>() == std::vector<float>(5, 1.0f));
  }
  const auto again = gpu_test::device_or_none();  // the process can go on with another
  Memory x(*again, 5);
  x.fill(7);
  CHECK(x.read(4, 1) == std::vector<float>{7});
}

TEST_CASE("failure: a device lost in the middle of a large upload") {
  const ScopedVariable variable("LLMTOOL_VK_LOSE_AFTER", "1");
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::uint64_t words = (std::uint64_t{66} << 20) / 4;
  Memory x(*device, words);
  CHECK(lost(error_of([&] { x.stage(0, std::vector<float>(words)); })));
  CHECK(lost(error_of([&] { device->submit(); })));
}

TEST_CASE("failure: a device lost in the middle of training") {
  using namespace step_test;
  const ScopedVariable variable("LLMTOOL_VK_LOSE_AFTER", "4");
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  Steps steps(*device, small(0.1), 2, 1);
  const std::string error = error_of([&] {
    for (std::uint32_t i = 0; i < 10; ++i) device->wait(steps.run(i) - 1);
  });
  CHECK(lost(error));
}
