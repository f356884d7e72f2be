// The model section of a configuration: every option once. Not here: presets of training
// (checkpoint/train_config.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/options.h"

namespace llmtool {

struct ModelConfig {
  std::string preset = "tiny";
  std::int64_t n_layer = 2;
  std::int64_t n_head = 4;
  std::optional<std::int64_t> n_kv_head;
  std::int64_t n_embd = 64;
  std::int64_t block_size = 32;
  std::string positions = "rope";
  double rope_theta = 10000;
  std::string rope_style = "adjacent";
  std::string norm = "layernorm";
  double norm_eps = 1e-5;
  std::string mlp = "gelu";
  std::optional<std::int64_t> mlp_hidden;
  bool attn_bias = true;
  bool mlp_bias = true;
  bool tie_embeddings = true;
  double dropout = 0.0;
  std::string init = "xavier";

  std::int64_t kv_heads() const noexcept { return n_kv_head.value_or(n_head); }
  std::int64_t head_size() const noexcept { return n_embd / n_head; }
  /// 4 n_embd, or for swiglu 8/3 of it rounded up to a multiple of 8, unless given.
  std::int64_t hidden() const noexcept;
  /// What the single ranges cannot say: divisibility of heads, even head size for rope. request_error naming
  /// the keys.
  void check() const;
  /// The named preset's values (tiny, char-cpu, char, tinygpt, gpt2, llama-15m); request_error for an unknown
  /// name.
  static ModelConfig from_preset(const std::string& name);

  template <class V>
  void visit(V& v) {
    v("preset", preset, Choices{"tiny", "char-cpu", "char", "tinygpt", "gpt2", "llama-15m"},
      "named set of the options below; explicit keys override it");
    v("n_layer", n_layer, Range{1, 1000}, "transformer blocks");
    v("n_head", n_head, Range{1, 1024}, "query heads");
    v("n_kv_head", n_kv_head, Range{1, 1024}, "key/value heads, a divisor of n_head; null: n_head");
    v("n_embd", n_embd, Range{1, 65536}, "width of the residual stream, a multiple of n_head");
    v("block_size", block_size, Range{1, 1048576}, "longest context in tokens");
    v("positions", positions, Choices{"rope", "learned", "sinusoidal", "none"}, "how positions enter");
    v("rope_theta", rope_theta, Range{0, 1e12, true}, "base of the rotary wavelengths");
    v("rope_style", rope_style, Choices{"adjacent", "half"}, "rotary pairs: (2i, 2i+1) or (i, i + D/2)");
    v("norm", norm, Choices{"layernorm", "rmsnorm"}, "normalisation before each sublayer and the head");
    v("norm_eps", norm_eps, Range{0, 1, true}, "added to the variance");
    v("mlp", mlp, Choices{"gelu", "gelu_exact", "relu", "swiglu"}, "activation of the feed-forward sublayer");
    v("mlp_hidden", mlp_hidden, Range{1, 1048576}, "its inner width; null: 4 n_embd (swiglu: 8/3 n_embd)");
    v("attn_bias", attn_bias, Any{}, "biases in the attention's linear layers");
    v("mlp_bias", mlp_bias, Any{}, "biases in the feed-forward's linear layers");
    v("tie_embeddings", tie_embeddings, Any{}, "the vocabulary head is the token table");
    v("dropout", dropout, Range{0, 1, false, true},
      "on embedding, attention probabilities and both residual branches");
    v("init", init, Choices{"xavier", "gpt2"},
      "xavier: sqrt(2/(in+out)); gpt2: 0.02, residual projections / sqrt(2 n_layer)");
  }
};

}  // namespace llmtool
