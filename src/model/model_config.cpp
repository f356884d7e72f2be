// Presets and checks of the model section; see model_config.h.
#include "model/model_config.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/nearest.h"

namespace llmtool {
namespace {

constexpr const char* preset_names[] = {"tiny", "char-cpu", "char", "tinygpt", "gpt2", "llama-15m"};

void set_sizes(ModelConfig& c, std::int64_t layers, std::int64_t heads, std::int64_t width,
               std::int64_t block) {
  c.n_layer = layers;
  c.n_head = heads;
  c.n_embd = width;
  c.block_size = block;
}

}  // namespace

std::int64_t ModelConfig::hidden() const noexcept {
  if (mlp_hidden) return *mlp_hidden;
  if (mlp != "swiglu") return 4 * n_embd;
  return ((8 * n_embd + 2) / 3 + 7) / 8 * 8;
}

void ModelConfig::check() const {
  if (n_embd % n_head != 0) {
    throw request_error(cat("[model] n_embd ", n_embd, " is not divisible by n_head ", n_head,
                            ": every head needs equal width"),
                        cat("the nearest multiples are ", std::max(n_head, n_embd / n_head * n_head), " and ",
                            (n_embd / n_head + 1) * n_head));
  }
  if (n_head % kv_heads() != 0) {
    throw request_error(cat("[model] n_head ", n_head, " is not divisible by n_kv_head ", kv_heads(),
                            ": each key/value head serves as many query heads"));
  }
  if (positions == "rope" && head_size() % 2 != 0) {
    throw request_error(cat("[model] n_embd / n_head is ", head_size(),
                            ", but positions \"rope\" turns pairs: the head size must be even"));
  }
}

ModelConfig ModelConfig::from_preset(const std::string& name) {
  ModelConfig c;
  c.preset = name;
  if (name == "tiny") return c;
  if (name == "char-cpu") {
    set_sizes(c, 4, 4, 128, 64);
  } else if (name == "char") {
    set_sizes(c, 6, 6, 384, 256);
  } else if (name == "tinygpt") {
    set_sizes(c, 4, 4, 128, 128);
    c.positions = "learned";
    c.attn_bias = false;
    c.mlp = "gelu_exact";
    c.tie_embeddings = false;
  } else if (name == "gpt2") {
    set_sizes(c, 12, 12, 768, 1024);
    c.positions = "learned";
  } else if (name == "llama-15m") {
    set_sizes(c, 6, 6, 288, 256);
    c.norm = "rmsnorm";
    c.mlp = "swiglu";
    c.attn_bias = false;
    c.mlp_bias = false;
  } else {
    std::string all;
    for (const char* known : preset_names) all += cat(all.empty() ? "" : ", ", known);
    const std::string near = nearest(name, {std::begin(preset_names), std::end(preset_names)});
    throw request_error(cat("[model] unknown preset \"", name, "\"; known: ", all),
                        near.empty() ? std::string() : cat("did you mean \"", near, "\"?"));
  }
  return c;
}

}  // namespace llmtool
