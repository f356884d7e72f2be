// TrainConfig: the whole JSON configuration of a run, each option declared once; presets, and checks across
// sections. Not here: what the options do.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/options.h"
#include "model/model_config.h"
#include "text/text_config.h"

namespace llmtool {

/// The `train` section.
struct TrainOptions {
  std::uint64_t seed = 42;
  std::int64_t batch_size = 8;
  std::int64_t grad_accum_steps = 1;
  std::int64_t steps = 600;
  double max_lr = 3e-3;
  std::optional<double> min_lr;
  std::int64_t warmup_steps = 50;
  double weight_decay = 0.01;
  std::string decay = "matrices";
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double grad_clip = 1.0;
  std::string optimizer = "adamw";
  double momentum = 0.0;
  std::int64_t eval_every = 100;
  std::int64_t eval_batches = 20;
  std::int64_t save_every = 0;
  std::int64_t keep_checkpoints = 3;
  bool recompute = false;
  std::optional<std::string> sample_prompt;
  std::int64_t early_stop_patience = 0;
  std::int64_t max_bad_steps = 10;

  double final_lr() const noexcept { return min_lr.value_or(max_lr / 10); }

  template <class V>
  void visit(V& v) {
    v("seed", seed, Range{}, "every random draw of the run follows from it");
    v("batch_size", batch_size, Range{1, 1 << 20}, "windows per micro-batch");
    v("grad_accum_steps", grad_accum_steps, Range{1, 1 << 20}, "micro-batches per step");
    v("steps", steps, Range{1, 1e12}, "optimizer updates");
    v("max_lr", max_lr, Range{0, 1e3, true}, "highest learning rate");
    v("min_lr", min_lr, Range{0, 1e3}, "rate at the end of the cosine; null: a tenth of max_lr");
    v("warmup_steps", warmup_steps, Range{0, 1e12}, "steps of linear warm-up");
    v("weight_decay", weight_decay, Range{0, 1e3}, "decoupled weight decay");
    v("decay", decay, Choices{"matrices", "all"},
      "what is decayed: matrices and embeddings, or every parameter");
    v("beta1", beta1, Range{0, 1, false, true}, "AdamW: decay of the first moment");
    v("beta2", beta2, Range{0, 1, false, true}, "AdamW: decay of the second moment");
    v("eps", eps, Range{0, 1, true}, "AdamW: added to the root of the second moment");
    v("grad_clip", grad_clip, Range{0, 1e12}, "largest global gradient norm; 0: off");
    v("optimizer", optimizer, Choices{"adamw", "sgd"}, "update rule");
    v("momentum", momentum, Range{0, 1, false, true}, "sgd: momentum");
    v("eval_every", eval_every, Range{0, 1e12}, "steps between log lines; 0: only at the end");
    v("eval_batches", eval_batches, Range{1, 1e9}, "fixed batches that val_loss is taken over");
    v("save_every", save_every, Range{0, 1e12}, "steps between checkpoints; 0: only at the end");
    v("keep_checkpoints", keep_checkpoints, Range{1, 1e9},
      "latest checkpoints kept (the best is kept besides)");
    v("recompute", recompute, Any{}, "recompute activations in the backward to save memory");
    v("sample_prompt", sample_prompt, Any{},
      "prompt of the samples; null: the beginning of the training data");
    v("early_stop_patience", early_stop_patience, Range{0, 1e9},
      "evaluations without improvement before stopping; 0: off");
    v("max_bad_steps", max_bad_steps, Range{1, 1e9},
      "non-finite steps in a row before the run counts as diverged");
  }
};

struct TrainConfig {
  ModelConfig model;
  TokenizerConfig tokenizer;
  DataConfig data;
  TrainOptions train;
  std::string device = "auto";

  template <class V>
  void visit(V& v) {
    v.section("model", model, "the model");
    v.section("tokenizer", tokenizer, "text to token ids");
    v.section("data", data, "texts and how windows are drawn");
    v.section("train", train, "the training run");
    v("device", device, Any{}, "auto, cpu, vulkan or vulkan:N");
  }
};

/// Reads `file` ("" : none) and applies `sets` ("train.steps=200") over it; the preset's values come under
/// the explicit keys. Everything is checked, across sections too (check()). request_error with the JSON path.
TrainConfig load_train_config(const std::string& file, const std::vector<std::string>& sets);
/// From JSON text, for checkpoints and run folders (`origin` names it in errors).
TrainConfig parse_train_config(const std::string& json, const std::string& origin);
/// What stands for something else made explicit: n_kv_head, mlp_hidden and min_lr where null, tokenizer.type
/// auto. Null stays where it means "none" (tokenizer.path, sample_prompt).
TrainConfig resolved(TrainConfig config);
/// Everything resolved (nulls filled in), pretty JSON with "format": "llmtool-1"; reads back as the same
/// configuration.
std::string resolved_json(const TrainConfig& config);
/// Checks across keys: min_lr <= max_lr, heads, and so on.
void check(const TrainConfig& config);
/// Path, type, default, range and help of every option, for --help.
std::string config_help();
/// The same as one line of JSON: {"keys": [{"key", "type", "expected", "default", "help"}, ...]}.
std::string config_keys_json();

}  // namespace llmtool
