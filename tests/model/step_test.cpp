// One whole training step: what it changes, what it records, and that accumulation equals the larger batch.
#include <cmath>

#include "cpu/cpu_device.h"
#include "device/counting_device.h"
#include "model/steps.h"
#include "support/catch.h"

namespace llmtool {
namespace {

using namespace step_test;

TEST_CASE("a step changes every parameter", "[model]") {
  const auto device = make_cpu_device(1);
  for (const char* positions : {"rope", "learned", "none"}) {
    ModelConfig c = small();
    c.positions = positions;
    c.tie_embeddings = c.positions == "rope";
    Steps steps(*device, c, 4, 1);
    const StateDict before = steps.model.state_dict();
    const StepStats stats = steps.result(steps.run(0));
    CHECK(stats.loss == Approx(std::log(17.0)).margin(0.3));
    CHECK(stats.grad_norm > 0);
    CHECK(stats.non_finite == 0);
    for (const auto& [name, host] : steps.model.state_dict()) {
      INFO(positions << " " << name);
      // Without rotary positions a key bias shifts all scores of a query alike: its gradient is exactly zero.
      if (c.positions != "rope" && name.ends_with("attn.k.bias")) continue;
      CHECK(host.values != before.at(name).values);
    }
  }
}

TEST_CASE("steps learn", "[model]") {
  const auto device = make_cpu_device(1);
  Steps steps(*device, small(), 4, 1);
  const float first = steps.result(steps.run(0)).loss;
  float last = first;
  for (std::uint32_t i = 1; i < 60; ++i) last = steps.result(steps.run(i)).loss;
  CHECK(last < 0.5f * first);
}

TEST_CASE("every step records the same launches, one submission, and no new memory", "[model]") {
  CountingDevice device;
  for (const char* positions : {"rope", "learned", "sinusoidal"}) {
    ModelConfig c = small(0.1);
    c.positions = positions;
    Steps steps(device, c, 2, 2);
    steps.run(0);
    const auto after_first = device.stats();
    device.record_launches(true);
    steps.run(1);
    const auto second = device.take_launches();
    steps.run(2);
    const auto third = device.take_launches();
    device.record_launches(false);
    CHECK(second.size() > 50);
    CHECK(second == third);
    CHECK(device.stats().blocks == after_first.blocks);
    CHECK(device.stats().submits == after_first.submits + 2);
    CHECK(device.stats().waits == after_first.waits);
    CHECK(device.stats().fetches == after_first.fetches + 2);
    CHECK(device.stats().bytes_fetched == after_first.bytes_fetched + 2 * sizeof(StepStats));
  }
}

TEST_CASE("four micro-batches equal one batch of four times the size", "[model]") {
  const auto device = make_cpu_device(2);
  for (const double dropout : {0.0, 0.2}) {
    INFO("dropout " << dropout);
    Steps whole(*device, small(dropout), 8, 1), parts(*device, small(dropout), 2, 4);
    const StepStats a = whole.result(whole.run(3)), b = parts.result(parts.run(3));
    CHECK(a.loss == Approx(b.loss).epsilon(1e-6));
    CHECK(a.grad_norm == Approx(b.grad_norm).epsilon(1e-6));
    check_gradients(whole, parts, 2e-6);
  }
}

TEST_CASE("recomputed blocks give the same bits in less memory", "[model]") {
  const auto device = make_cpu_device(2);
  for (const char* kind : {"gpt2", "llama"}) {
    ModelConfig c = small(0.2);
    c.n_layer = 3;
    if (std::string(kind) == "llama") {
      c.norm = "rmsnorm";
      c.mlp = "swiglu";
      c.n_kv_head = 1;
      c.tie_embeddings = false;
    } else {
      c.positions = "learned";
    }
    INFO(kind);
    Steps kept(*device, c, 2, 2), recomputed(*device, c, 2, 2);
    recomputed.recompute = true;
    for (std::uint32_t step = 0; step < 2; ++step) {
      const StepStats a = kept.result(kept.run(step)), b = recomputed.result(recomputed.run(step));
      CHECK(a.loss == b.loss);
      CHECK(a.grad_norm == b.grad_norm);
    }
    const StateDict wanted = kept.model.state_dict();
    for (const auto& [name, host] : recomputed.model.state_dict()) {
      INFO(name);
      CHECK(host.values == wanted.at(name).values);
    }
  }
}

TEST_CASE("with recomputation memory grows by one input a block", "[model]") {
  const auto peak = [](std::int64_t layers, bool recompute) {
    CountingDevice device;
    ModelConfig c = small();
    c.n_embd = 64;
    c.n_layer = layers;
    Steps steps(device, c, 16, 1);
    steps.recompute = recompute;
    const std::uint64_t before = device.pool().peak_bytes();
    steps.run(0);
    return device.pool().peak_bytes() - before;
  };
  const std::uint64_t input = 16 * 8 * 64 * sizeof(float);
  CHECK(peak(6, true) - peak(4, true) == 2 * input);
  CHECK(peak(6, false) - peak(4, false) > 2 * 12 * input);
}

TEST_CASE("dropout acts in training alone and differs from step to step", "[model]") {
  const auto device = make_cpu_device(1);
  Steps steps(*device, small(0.3), 2, 1);
  const std::vector<std::int32_t> text = {1, 2, 3, 4, 5, 6, 7, 8};
  const ops::Index ids(*device, text, vocab);
  const auto hidden = [&](std::uint32_t step) {
    StepParams p{};
    p.step = step;
    p.dropout_key0 = 1;
    steps.state.stage(p);
    return steps.model.forward(ids, 1, {steps.state.params(), 0}).to_host();
  };
  const auto plain = steps.model.forward(ids, 1).to_host();
  CHECK(hidden(0) == hidden(0));
  CHECK(hidden(0) != hidden(1));
  CHECK(hidden(0) != plain);
  steps.model.eval();
  CHECK(hidden(0) == plain);
}

}  // namespace
}  // namespace llmtool
