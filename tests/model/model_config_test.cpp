// Presets, parameter counts and checks of the model section.
#include "base/error.h"
#include "model/gpt.h"
#include "support/catch.h"

namespace llmtool {
namespace {

std::int64_t count(const ModelConfig& config, std::int64_t vocab) {
  return GPT(config, vocab).parameter_count();
}

TEST_CASE("parameter counts of the presets", "[model]") {
  const ModelConfig tiny = ModelConfig::from_preset("tiny");
  CHECK(count(tiny, 35) == 102336);
  CHECK(count(tiny, 100) == 106496);
  CHECK(TransformerBlock(tiny, 0).parameter_count() == 49984);
  CHECK(count(ModelConfig::from_preset("tinygpt"), 128) == 840448);
  CHECK(count(ModelConfig::from_preset("gpt2"), 50257) == 124439808);
}

TEST_CASE("matrices and embeddings are decayed, biases and gains are not", "[model]") {
  GPT model(ModelConfig::from_preset("tiny"), 35);
  CHECK(model.decayed_count(DecayRule::all) == 102336);
  // Two blocks of 12 C^2 and the token table.
  CHECK(model.decayed_count(DecayRule::matrices) == 2 * 12 * 64 * 64 + 35 * 64);
}

TEST_CASE("parameters are named by their place", "[model]") {
  ModelConfig c;
  c.n_layer = 1;
  c.mlp = "swiglu";
  c.positions = "learned";
  c.norm = "rmsnorm";
  c.attn_bias = false;
  c.mlp_bias = false;
  c.tie_embeddings = false;
  std::vector<std::string> names;
  GPT model(c, 10);
  for (const auto& parameter : model.named_parameters()) names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{
                     "wte.weight", "wpe.weight", "blocks.0.norm1.weight", "blocks.0.attn.q.weight",
                     "blocks.0.attn.k.weight", "blocks.0.attn.v.weight", "blocks.0.attn.o.weight",
                     "blocks.0.norm2.weight", "blocks.0.mlp.gate.weight", "blocks.0.mlp.up.weight",
                     "blocks.0.mlp.down.weight", "norm.weight", "head.weight"});
}

TEST_CASE("the inner width of the feed-forward sublayer", "[model]") {
  ModelConfig c;
  c.n_embd = 100;
  CHECK(c.hidden() == 400);
  c.mlp = "swiglu";
  CHECK(c.hidden() == 272);  // 266.7 rounded up to a multiple of 8
  CHECK(ModelConfig::from_preset("llama-15m").hidden() == 768);
  c.mlp_hidden = 50;
  CHECK(c.hidden() == 50);
}

TEST_CASE("what single ranges cannot say is checked", "[model]") {
  const auto message = [](auto change) {
    ModelConfig c;
    change(c);
    try {
      c.check();
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::request);
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message([](ModelConfig&) {}).empty());
  CHECK(message([](ModelConfig& c) { c.n_embd = 65; }).find("n_embd 65") != std::string::npos);
  CHECK(message([](ModelConfig& c) { c.n_kv_head = 3; }).find("n_kv_head 3") != std::string::npos);
  CHECK(message([](ModelConfig& c) { c.n_embd = 12; }).find("even") != std::string::npos);
  CHECK(message([](ModelConfig& c) {
          c.n_embd = 12;
          c.positions = "learned";
        }).empty());
  CHECK_THROWS_AS(ModelConfig::from_preset("gtp2"), Error);
}

TEST_CASE("floating-point operations of a training step", "[model]") {
  GPT model(ModelConfig::from_preset("tiny"), 35);
  const double products = 2 * 12 * 64 * 64 + 35 * 64;
  CHECK(model.flops_per_token() == Approx(6 * products + 6.0 * 2 * 64 * 33));
}

}  // namespace
}  // namespace llmtool
