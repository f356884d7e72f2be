// Whole training steps on the Vulkan device: the CPU's parameters, the same bytes twice, and what a step may
// cost in submissions, waits, bytes and memory. Not here: the loop (tests/cli/vulkan_test.cpp).
#include <cmath>
#include <limits>

#include "cpu/cpu_device.h"
#include "gpu/support.h"
#include "model/steps.h"

using namespace llmtool;
using namespace llmtool::step_test;

namespace {

/// RMSNorm, SwiGLU, grouped heads and an untied head, or LayerNorm, GELU, learned positions and a tied one.
ModelConfig variant(bool llama) {
  ModelConfig c = small(0.1);
  if (llama) {
    c.n_head = 4;
    c.n_kv_head = 2;
    c.norm = "rmsnorm";
    c.mlp = "swiglu";
    c.tie_embeddings = false;
  } else {
    c.positions = "learned";
    c.tie_embeddings = true;
  }
  return c;
}

std::vector<StepStats> run_steps(Steps& steps, std::uint32_t count) {
  std::vector<StepStats> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(steps.result(steps.run(i)));
  return all;
}

}  // namespace

TEST_CASE("steps on the Vulkan device end with the CPU's parameters", "[steps]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (const bool llama : {false, true}) {
    INFO((llama ? "llama-like" : "gpt2-like"));
    const auto cpu = make_cpu_device(1);
    Steps wanted(*cpu, variant(llama), 3, 2), got(*device, variant(llama), 3, 2);
    const auto left = run_steps(wanted, 4), right = run_steps(got, 4);
    for (std::size_t i = 0; i < left.size(); ++i) {
      INFO("step " << i);
      CHECK(right[i].loss == Approx(left[i].loss).epsilon(1e-5));
      CHECK(right[i].grad_norm == Approx(left[i].grad_norm).epsilon(1e-4));
      CHECK(right[i].non_finite == 0);
    }
    const StateDict host = got.model.state_dict();
    for (const auto& [name, value] : wanted.model.state_dict()) {
      INFO(name);
      // Without rotary positions the gradient of a key bias is exactly zero: what it moves by is rounding.
      if (!llama && name.ends_with("attn.k.bias")) continue;
      CHECK(distance(value.values, host.at(name).values) < 1e-4);
    }
  }
}

TEST_CASE("the same steps twice on the Vulkan device give the same bytes", "[steps]") {
  StateDict first;
  for (int round = 0; round < 2; ++round) {
    const auto device = gpu_test::device_or_none();
    if (device == nullptr) return;
    Steps steps(*device, variant(false), 2, 2);
    // The second time the host runs ahead.
    for (std::uint32_t i = 0; i < 4; ++i) {
      const Ticket ticket = steps.run(i);
      if (round == 0) device->wait(ticket);
    }
    StateDict now = steps.model.state_dict();
    if (round == 0) {
      first = std::move(now);
      continue;
    }
    for (const auto& [name, value] : first) {
      INFO(name);
      CHECK(value.values == now.at(name).values);
    }
  }
}

TEST_CASE("a step on the Vulkan device is one submission, and takes no new memory", "[steps]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  Steps steps(*device, variant(true), 2, 2);
  steps.run(0);
  Ticket before = device->submitted();
  for (std::uint32_t i = 1; i < 6; ++i) {
    INFO("step " << i);
    const DeviceStats old = device->stats();
    const FetchedPtr earlier = steps.stats;
    const Ticket ticket = steps.run(i);
    device->wait(before);  // the only wait, and for an earlier step
    CHECK(std::isfinite(earlier->as<StepStats>().front().loss));
    const DeviceStats& now = device->stats();
    CHECK(ticket == before + 1);
    CHECK(now.submits == old.submits + 1);
    CHECK(now.waits == old.waits + 1);
    CHECK(now.last_waited == before);
    CHECK(now.fetches == old.fetches + 1);
    CHECK(now.bytes_fetched == old.bytes_fetched + sizeof(StepStats));
    CHECK(now.blocks == old.blocks);
    before = ticket;
  }
}

TEST_CASE("micro-batches on the Vulkan device equal one batch", "[steps]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  Steps whole(*device, variant(false), 4, 1), parts(*device, variant(false), 2, 2);
  const StepStats a = whole.result(whole.run(3)), b = parts.result(parts.run(3));
  CHECK(a.loss == Approx(b.loss).epsilon(1e-6));
  CHECK(a.grad_norm == Approx(b.grad_norm).epsilon(1e-5));
  check_gradients(whole, parts, 5e-6, false);
}

TEST_CASE("a step on the Vulkan device that is not finite changes no parameter and no moment", "[steps]") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  Steps steps(*device, variant(true), 2, 1), other(*device, variant(true), 2, 1);
  run_steps(steps, 2);
  run_steps(other, 2);
  const StateDict before = steps.model.state_dict();
  const StepStats stats = steps.result(steps.run(2, std::numeric_limits<float>::infinity()));
  CHECK(stats.non_finite == 1);
  CHECK(stats.clip_scale == 0);
  for (const auto& [name, value] : steps.model.state_dict()) CHECK(value.values == before.at(name).values);
  // The moments show in the next step.
  CHECK(steps.result(steps.run(3)).non_finite == 0);
  other.result(other.run(3));
  const StateDict wanted = other.model.state_dict();
  for (const auto& [name, value] : steps.model.state_dict()) CHECK(value.values == wanted.at(name).values);
}
