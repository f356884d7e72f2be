// A model directory: config.json, model.safetensors, tokenizer.json. Not here: the optimizer's state
// (checkpoint.h).
#pragma once
#include <memory>
#include <vector>

#include "base/files.h"
#include "checkpoint/tensor_file.h"
#include "checkpoint/train_config.h"
#include "model/gpt.h"
#include "text/tokenizer.h"

namespace llmtool {

struct ModelFiles {
  Path dir;  ///< The directory that was resolved to.
  TrainConfig config;
  std::unique_ptr<Tokenizer> tokenizer;
};

/// A run directory (its `best`, else its `latest`), a checkpoint, or any model directory. world_error that
/// says what is missing, and to run `llmtool train` where nothing is there.
Path resolve_model_dir(const Path& path);
/// Configuration and tokenizer of the resolved directory, checked against each other.
ModelFiles open_model(const Path& path);
/// Names and shapes of all parameters, in order.
std::vector<NamedShape> parameter_shapes(GPT& model);
/// world_error with the need, what there is and the knobs, if the model is larger than what the device has
/// left: weights and cache, or with `trainable` weights, gradients and two moments. For a declared model,
/// before materialise().
void require_memory(GPT& model, const Device& device, bool trainable);
/// The model with its weights on the device, in evaluation mode, not trainable. Memory is checked before
/// allocation.
std::unique_ptr<GPT> load_model(const ModelFiles& files, Device& device);
/// Copies the weights of the directory into a materialised model; missing, unexpected and wrongly shaped
/// names in one error. In a checkpoint they must have the checksum that its trainer_state.json gives.
void load_weights(const Path& dir, GPT& model);

}  // namespace llmtool
