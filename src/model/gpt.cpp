// GPT: the stack from tokens to logits; see gpt.h.
#include "model/gpt.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "model/model_init.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/shape_ops.h"
#include "tensor/autograd.h"
#include "tensor/recompute.h"

namespace llmtool {

Tensor sinusoidal_table(Device& device, std::int64_t positions, std::int64_t width) {
  std::vector<float> values(static_cast<std::size_t>(positions * width));
  for (std::int64_t p = 0; p < positions; ++p) {
    for (std::int64_t c = 0; c < width; ++c) {
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(width);
      const double angle = static_cast<double>(p) * std::pow(10000.0, -exponent);
      values[static_cast<std::size_t>(p * width + c)] =
          static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return Tensor::of(device, Shape{positions, width}, values);
}

GPT::GPT(const ModelConfig& config, std::int64_t vocab_size) : config_(config), vocab_(vocab_size) {
  config_.check();
  LLMTOOL_CHECK(vocab_ > 0, "vocabulary of ", vocab_);
  const std::int64_t width = config_.n_embd;
  const Init normal = Init::normal(embedding_std);
  wte_ = std::make_unique<Embedding>(vocab_, width, normal);
  adopt("wte", *wte_);
  if (config_.positions == "learned") {
    wpe_ = std::make_unique<Embedding>(config_.block_size, width, normal);
    adopt("wpe", *wpe_);
  }
  for (std::int64_t i = 0; i < config_.n_layer; ++i) {
    blocks_.push_back(std::make_unique<TransformerBlock>(config_, i));
    adopt(cat("blocks.", i), *blocks_.back());
  }
  norm_ = std::make_unique<Norm>(norm_kind(config_), width, static_cast<float>(config_.norm_eps));
  adopt("norm", *norm_);
  if (!config_.tie_embeddings) {
    head_ = std::make_unique<Linear>(width, vocab_, false, normal);
    adopt("head", *head_);
  }
}

void GPT::prepare_tables() {
  if (config_.positions == "rope" && !rotary_table_.defined()) {
    rotary_table_ = ops::rotary_table(device(), config_.block_size, config_.head_size(), config_.rope_theta);
  }
  if (config_.positions == "sinusoidal" && !sinusoidal_table_.defined()) {
    sinusoidal_table_ = sinusoidal_table(device(), config_.block_size, config_.n_embd);
  }
}

const ops::Index& GPT::positions(std::int64_t tokens) {
  for (const ops::Index& index : position_indices_) {
    if (index.size() == tokens) return index;
  }
  std::vector<std::int32_t> ids(static_cast<std::size_t>(tokens));
  std::iota(ids.begin(), ids.end(), 0);
  return position_indices_.emplace_back(device(), ids, config_.block_size);
}

Tensor GPT::embed(const ops::Index& ids, std::int64_t batch, std::int64_t tokens, std::int64_t position0) {
  LLMTOOL_CHECK(batch > 0 && tokens > 0 && batch * tokens == ids.size(), batch, " x ", tokens, " of ",
                ids.size(), " ids");
  LLMTOOL_CHECK(position0 + tokens <= config_.block_size, "positions ", position0, " + ", tokens,
                " in a block of ", config_.block_size);
  prepare_tables();
  const Shape rows{tokens, config_.n_embd};
  const Tensor x = ops::reshape((*wte_)(ids), Shape{batch, tokens, config_.n_embd});
  const auto slice = [&](const Tensor& table) { return table.alias(position0 * config_.n_embd, rows); };
  if (sinusoidal_table_.defined()) return x + slice(sinusoidal_table_);
  if (!wpe_) return x;
  // Positions are consecutive rows of the table; only a gradient needs the lookup that can scatter it.
  const bool differentiate = grad_enabled() && wpe_->weight().requires_grad();
  return x + (differentiate ? (*wpe_)(positions(tokens)) : slice(wpe_->weight()));
}

Tensor GPT::forward(const ops::Index& ids, std::int64_t batch, const ForwardContext& context) {
  Tensor x = embed(ids, batch, ids.size() / batch, 0);
  x = ops::dropout(
      x, dropout_at(static_cast<float>(config_.dropout), embedding_dropout_stream, training(), context));
  for (const auto& block : blocks_) {
    const auto run = [&block = *block, rotary = rotary_table_, context](const Tensor& input) {
      return block(input, rotary, context);
    };
    x = context.recompute ? recomputed("block", x, run) : run(x);
  }
  return (*norm_)(x);
}

Tensor GPT::logits(const Tensor& hidden) const { return ops::linear(hidden, head_weight()); }

Tensor GPT::loss(const ops::Index& ids, const ops::Targets& targets, std::int64_t batch,
                 const ForwardContext& context) {
  return ops::head_loss(forward(ids, batch, context), head_weight(), targets);
}

Tensor GPT::forward_cached(const ops::Index& ids, KvCache& cache) {
  const NoGrad no_grad;
  LLMTOOL_CHECK(cache.keys.size() == blocks_.size(), "a cache of ", cache.keys.size(), " blocks");
  Tensor x = embed(ids, 1, ids.size(), cache.length);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i]->cached(x, rotary_table_, cache.keys[i], cache.values[i], cache.length);
  }
  cache.length += ids.size();
  return (*norm_)(x);
}

KvCache GPT::make_cache() const {
  KvCache cache;
  const Shape shape{config_.block_size, config_.kv_heads() * config_.head_size()};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    cache.keys.push_back(Tensor::zeros(device(), shape));
    cache.values.push_back(Tensor::zeros(device(), shape));
  }
  return cache;
}

double GPT::flops_per_token() const {
  const auto width = static_cast<double>(config_.n_embd);
  const auto layers = static_cast<double>(config_.n_layer);
  const auto kv_width = static_cast<double>(config_.kv_heads() * config_.head_size());
  const double mlp_matrices = config_.mlp == "swiglu" ? 3 : 2;
  const double block =
      2 * width * width + 2 * width * kv_width + mlp_matrices * width * static_cast<double>(config_.hidden());
  const double products = layers * block + width * static_cast<double>(vocab_);
  return 6 * products + 6 * layers * width * static_cast<double>(config_.block_size + 1);
}

}  // namespace llmtool
