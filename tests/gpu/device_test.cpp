// What the Vulkan device promises beside its kernels: host traffic at any offset and of any size, order,
// ring slots that are used again, segments. Not here: failures (failure_test.cpp), whole steps
// (step_test.cpp).
#include <chrono>
#include <numeric>
#include <thread>

#include "base/cat.h"
#include "base/rng.h"
#include "gpu/memory.h"
#include "gpu/support.h"
#include "model/steps.h"
#include "support/scoped_variable.h"

using namespace llmtool;
using gpu_test::Memory;

namespace {

/// Draws below a bound, the same in every run.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed, "draws") {}
  std::uint64_t operator()(std::uint64_t bound) {
    return static_cast<std::uint64_t>(stream_.uniform(next_++) * static_cast<double>(bound));
  }

 private:
  Stream stream_;
  std::uint64_t next_ = 0;
};

std::vector<float> ramp(std::uint64_t n, float first) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// Random stages, fills, copies, launches and fetches on one piece of memory, and the same on the host;
/// whatever the order of execution is, it must look like that of recording.
void random_programme(Device& device, std::uint64_t seed, int operations) {
  constexpr std::uint64_t words = 700;
  Draws draw(seed);
  Memory memory(device, words);
  std::vector<float> host = ramp(words, 0);
  memory.stage(0, host);
  struct Late {
    FetchedPtr fetched;
    std::vector<float> wanted;
    int operation;
  };
  std::vector<Late> late;
  for (int i = 0; i < operations; ++i) {
    const std::uint64_t count = 1 + draw(draw(2) == 0 ? 5 : words / 2);
    const std::uint64_t to = draw(words - count + 1);
    std::uint64_t from = draw(words - count + 1);
    const bool apart = from + count <= to || to + count <= from;
    const auto host_at = [&host](std::uint64_t at) { return host.begin() + static_cast<std::ptrdiff_t>(at); };
    const auto value = static_cast<float>(draw(1000));
    switch (draw(7)) {
      case 0:
        memory.stage(to, ramp(count, value));
        std::iota(host_at(to), host_at(to + count), value);
        break;
      case 1:
        device.fill(memory.part(to, count), std::bit_cast<std::uint32_t>(value));
        std::fill(host_at(to), host_at(to + count), value);
        break;
      case 2:
        if (!apart) break;
        device.copy(memory.part(from, count), memory.part(to, count));
        std::copy(host_at(from), host_at(from + count), host_at(to));
        break;
      case 3:
      case 4: {  // exact: small whole numbers
        if (!apart) from = to;
        launch<KernelId::affine>(device, {memory.part(from, count), memory.part(to, count)},
                                 {static_cast<std::uint32_t>(count), -1, value, 0});
        std::transform(host_at(from), host_at(from + count), host_at(to),
                       [value](float x) { return value - x; });
        break;
      }
      case 5:
        late.push_back({device.fetch(memory.part(from, count)), {host_at(from), host_at(from + count)}, i});
        break;
      default:
        if (draw(3) == 0) device.submit();
    }
  }
  CHECK(memory.read() == host);
  for (const Late& fetch : late) {
    INFO("fetched by operation " << fetch.operation);
    REQUIRE(fetch.fetched->as<float>() == fetch.wanted);
  }
}

}  // namespace

TEST_CASE("device: bytes go and come at odd word offsets", "[order]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (const std::uint64_t count : {1u, 2u, 3u, 17u, 64u, 1001u}) {
    for (const std::uint64_t offset : {0u, 1u, 3u, 63u, 65u}) {
      INFO(count << " words at " << offset);
      Memory a(*device, offset + count + 2), b(*device, offset + count + 2);
      a.fill(-1);
      b.fill(-2);
      a.stage(offset, ramp(count, 5));
      device->copy(a.part(offset, count), b.part(offset + 1, count));
      std::vector<float> wanted(offset + count + 2, -2.0f);
      std::iota(wanted.begin() + static_cast<std::ptrdiff_t>(offset + 1), wanted.end() - 1, 5.0f);
      CHECK(b.read() == wanted);
      CHECK(a.read(offset + count, 2) == std::vector<float>{-1, -1});
    }
  }
}

TEST_CASE("device: what is recorded in an order is seen in that order", "[order]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    INFO("seed " << seed);
    random_programme(*device, seed, 400);
  }
}

TEST_CASE("device: launches that depend on each other", "[order]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::uint32_t n = 5000;
  Memory a(*device, n), b(*device, n);
  a.fill(0);
  for (int i = 0; i < 50; ++i) {
    launch<KernelId::affine>(*device, {a.view, b.view}, {n, 1, 1, 0});
    launch<KernelId::affine>(*device, {b.view, a.view}, {n, 1, 1, 0});
  }
  CHECK(a.read() == std::vector<float>(n, 100.0f));
  CHECK(device->stats().barriers >= 99);
}

TEST_CASE("device: uploads and fetches larger than the ring", "[order]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  const std::uint64_t words = (std::uint64_t{70} << 20) / 4 + 3;
  Memory large(*device, words), small(*device, 8);
  small.stage(0, ramp(8, 100));  // before the large one, in the same submission
  std::vector<float> values = ramp(words, 0);
  values[words - 1] = -7;
  large.stage(0, values);
  small.stage(3, {1, 2});
  const FetchedPtr back = device->fetch(large.view);
  device->fill(large.part(1, words - 1), 0);
  device->synchronise();
  CHECK((back->as<float>() == values));
  CHECK(small.read() == std::vector<float>{100, 101, 102, 1, 2, 105, 106, 107});
  CHECK(large.read(0, 2) == std::vector<float>{0, 0});
  CHECK(device->stats().submits == 3);
}

TEST_CASE("device: fetches may be read late, and hold what was there when they were recorded", "[order]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  Memory x(*device, 3);
  std::vector<FetchedPtr> fetched;
  for (int i = 0; i < 20; ++i) {
    x.fill(static_cast<float>(i));
    fetched.push_back(device->fetch(x.view));
    if (i % 3 != 0) device->submit();
  }
  device->synchronise();
  for (std::size_t i = 0; i < fetched.size(); ++i) {
    CHECK(fetched[i]->as<float>() == std::vector<float>(3, static_cast<float>(i)));
  }
}

TEST_CASE("device: staged values arrive in their own submission, however the host runs", "[order]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  constexpr std::uint32_t rounds = 150, most = 80000;
  Draws draw(3);
  Memory x(*device, most), y(*device, most), history(*device, 2 * rounds);
  std::vector<float> wanted;
  Ticket earlier = 0;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const auto n = static_cast<std::uint32_t>(2 + draw(i % 10 == 0 ? most - 2 : 500));
    x.stage(0, std::vector<float>(n, static_cast<float>(i)));
    launch<KernelId::affine>(*device, {x.part(0, n), y.part(0, n)}, {n, 2, 1, 0});
    device->copy(y.part(0, 1), history.part(2 * i, 1));
    device->copy(y.part(n - 1, 1), history.part(2 * i + 1, 1));
    wanted.insert(wanted.end(), 2, static_cast<float>(2 * i + 1));
    const Ticket ticket = device->submit();
    if (draw(8) == 0) device->submit();  // an empty one
    if (draw(4) == 0) device->wait(earlier);
    if (draw(3) == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw(3000)));
    earlier = ticket;
  }
  CHECK(history.read() == wanted);
}

TEST_CASE("device: submissions cut into segments change no value", "[order]") {
  using namespace step_test;
  std::vector<StateDict> ends;
  for (const char* budget : {"1000000", "1"}) {
    const ScopedVariable variable("LLMTOOL_VK_SUBMIT_MS", budget);
    const auto device = gpu_test::device_or_none();
    if (device == nullptr) return;
    random_programme(*device, 9, 300);
    ModelConfig config = small(0.1);
    config.n_embd = 32;
    Steps steps(*device, config, 4, 1);
    const DeviceStats before = device->stats();
    for (std::uint32_t i = 0; i < 3; ++i) steps.run(i);
    const std::uint64_t segments = device->stats().segments - before.segments;
    CHECK(device->stats().submits - before.submits == 3);
    CHECK((ends.empty() ? segments == 3 : segments > 6));
    ends.push_back(steps.model.state_dict());
  }
  for (const auto& [name, value] : ends[0]) {
    INFO(name);
    CHECK(value.values == ends[1].at(name).values);
  }
}
