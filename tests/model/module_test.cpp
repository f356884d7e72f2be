// Modules: declaration, slabs, initialisation by name, and state dictionaries.
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "cpu/cpu_device.h"
#include "device/counting_device.h"
#include "model/gpt.h"
#include "support/catch.h"

namespace llmtool {
namespace {

ModelConfig small() {
  ModelConfig c;
  c.n_embd = 16;
  c.n_layer = 2;
  c.n_head = 2;
  c.block_size = 8;
  return c;
}

TEST_CASE("query, key and value parameters lie one behind the other", "[model]") {
  CountingDevice device;
  for (const DecayRule rule : {DecayRule::matrices, DecayRule::all}) {
    ModelConfig c = small();
    c.mlp = "swiglu";
    c.mlp_hidden = 24;
    GPT model(c, 11);
    model.materialise(device, true, rule);
    const auto parameters = model.named_parameters();
    const auto find = [&](const std::string& name) -> const Tensor& {
      for (const auto& p : parameters) {
        if (p.name == name) return p.parameter->tensor;
      }
      throw InternalError(name);
    };
    const auto follows = [&](const std::string& a, const std::string& b) {
      const View first = find(a).view(), second = find(b).view();
      return first.block == second.block && first.offset + first.bytes == second.offset;
    };
    for (const char* kind : {".weight", ".bias"}) {
      CHECK(follows(cat("blocks.1.attn.q", kind), cat("blocks.1.attn.k", kind)));
      CHECK(follows(cat("blocks.1.attn.k", kind), cat("blocks.1.attn.v", kind)));
      CHECK(follows(cat("blocks.1.mlp.gate", kind), cat("blocks.1.mlp.up", kind)));
    }
    REQUIRE(model.slabs().slabs().size() == 1);
    const Slab& slab = model.slabs().slabs().front();
    CHECK(slab.n >= model.parameter_count());
    CHECK(slab.n_decay >= model.decayed_count(rule));
    CHECK((slab.n_decay == slab.n) == (rule == DecayRule::all));
  }
}

TEST_CASE("parameters start by name, the same on every device", "[model]") {
  const auto one = make_cpu_device(1);
  const auto two = make_cpu_device(2);
  GPT a(small(), 11), b(small(), 11);
  a.materialise(*one, false);
  b.materialise(*two, true);
  a.initialise(7);
  b.initialise(7);
  const StateDict first = a.state_dict(), second = b.state_dict();
  for (const auto& [name, host] : first) CHECK(host.values == second.at(name).values);
  const Stream stream(7, "init/blocks.1.attn.k.weight");
  const double std = std::sqrt(2.0 / 32);
  CHECK(first.at("blocks.1.attn.k.weight").values[5] == Approx(std * stream.normal(5)));
  CHECK(first.at("norm.weight").values[3] == 1);
  CHECK(first.at("blocks.0.attn.q.bias").values[3] == 0);
  b.initialise(8);
  CHECK(b.state_dict().at("wte.weight").values != first.at("wte.weight").values);
}

TEST_CASE("initial spread: xavier and gpt2", "[model]") {
  const auto device = make_cpu_device(1);
  const auto spread = [&](const char* init, const std::string& name) {
    ModelConfig c = small();
    c.n_embd = 64;
    c.init = init;
    c.tie_embeddings = false;
    GPT model(c, 100);
    model.materialise(*device, false);
    model.initialise(1);
    const StateDict state = model.state_dict();
    double sum = 0;
    for (const float v : state.at(name).values) sum += static_cast<double>(v) * v;
    return std::sqrt(sum / static_cast<double>(state.at(name).values.size()));
  };
  CHECK(spread("xavier", "blocks.0.mlp.up.weight") == Approx(std::sqrt(2.0 / 320)).epsilon(0.05));
  CHECK(spread("xavier", "blocks.0.mlp.down.weight") == Approx(std::sqrt(2.0 / 320)).epsilon(0.05));
  CHECK(spread("gpt2", "blocks.0.mlp.up.weight") == Approx(0.02).epsilon(0.05));
  CHECK(spread("gpt2", "blocks.0.mlp.down.weight") == Approx(0.01).epsilon(0.05));
  CHECK(spread("gpt2", "blocks.1.attn.o.weight") == Approx(0.01).epsilon(0.05));
  for (const char* init : {"xavier", "gpt2"}) {
    CHECK(spread(init, "wte.weight") == Approx(0.02).epsilon(0.05));
    CHECK(spread(init, "head.weight") == Approx(0.02).epsilon(0.05));
  }
}

TEST_CASE("a state dictionary restores a model, and every misfit is named at once", "[model]") {
  const auto device = make_cpu_device(1);
  GPT a(small(), 11), b(small(), 11);
  a.materialise(*device, true);
  b.materialise(*device, true);
  a.initialise(3);
  b.initialise(4);
  StateDict state = a.state_dict();
  b.load_state_dict(state);
  for (const auto& [name, host] : b.state_dict()) CHECK(host.values == state.at(name).values);

  state.erase("blocks.0.norm1.weight");
  state.erase("norm.bias");
  state["extra.weight"] = {Shape{1}, {0}};
  state["wte.weight"].shape = Shape{16, 11};
  state["norm.weight"].values.pop_back();
  try {
    b.load_state_dict(state);
    FAIL("loaded");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::world);
    CHECK(std::string(e.what()) ==
          "[load] the weights do not fit the model: missing: blocks.0.norm1.weight, norm.bias; unexpected: "
          "extra.weight; wrong shape: wte.weight (16,11) instead of (11,16), norm.weight with 15 values for "
          "(16)");
  }
  CHECK(b.state_dict().at("wte.weight").values == a.state_dict().at("wte.weight").values);
}

TEST_CASE("training mode reaches every submodule", "[model]") {
  TransformerBlock block(small(), 0);
  CHECK(block.training());
  block.eval();
  CHECK_FALSE(block.training());
}

}  // namespace
}  // namespace llmtool
