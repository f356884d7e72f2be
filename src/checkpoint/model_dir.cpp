// Finding, opening and loading a model directory.
#include "checkpoint/model_dir.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "checkpoint/run_pointers.h"
#include "checkpoint/tensor_file.h"
#include "checkpoint/tokenizer_file.h"
#include "checkpoint/trainer_state.h"

namespace llmtool {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_config_bytes = std::uint64_t{1} << 20;

bool is_model_dir(const Path& dir) {
  std::error_code ignored;
  return fs::exists(dir / "model.safetensors", ignored);
}

/// "1.2 GiB"; below one, "340.0 MiB".
std::string size_text(std::uint64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fixed(mib, 1) + " MiB" : fixed(mib / 1024, 1) + " GiB";
}

}  // namespace

Path resolve_model_dir(const Path& path) {
  const char* hint = "run `llmtool train` first, or name a model directory with --model";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw world_error(cat("there is no model at ", shown(path)), hint);
  if (!fs::is_directory(path, ignored)) {
    throw world_error(cat(shown(path),
                          " is not a directory; a model is a directory with config.json, "
                          "model.safetensors and tokenizer.json"));
  }
  if (is_model_dir(path)) return path;
  for (const char* pointer : {"best", "latest"}) {
    if (const auto found = read_run_pointer(path, pointer); found && is_model_dir(*found)) return *found;
  }
  // Checkpoints without a usable pointer: a crash may have come between the two.
  const auto steps = checkpoint_steps(path);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (const Path dir = checkpoint_dir(path, *step); is_model_dir(dir)) return dir;
  }
  throw world_error(cat("there is no model in ", shown(path), ": neither model.safetensors nor a checkpoint"),
                    hint);
}

ModelFiles open_model(const Path& path) {
  ModelFiles files;
  files.dir = resolve_model_dir(path);
  const Path config = files.dir / "config.json";
  files.config = parse_train_config(read_file(config, max_config_bytes), printable(config.native()));
  files.tokenizer = load_tokenizer(files.dir);

  const std::string& type = files.config.tokenizer.type;
  if (type != "auto" && type != "file" && type != files.tokenizer->type()) {
    throw world_error(cat(shown(files.dir), ": config.json has the tokenizer type ", type,
                          ", tokenizer.json ", files.tokenizer->type(),
                          ": the files do not belong together"));
  }
  const Path weights = files.dir / "model.safetensors";
  const SafetensorsFile file(weights);
  const TensorInfo* table = file.find("wte.weight");
  if (table != nullptr && table->shape.size() == 2 && table->shape[0] != files.tokenizer->vocab_size()) {
    throw world_error(cat(shown(files.dir), ": tokenizer.json has ", files.tokenizer->vocab_size(),
                          " tokens, model.safetensors ", table->shape[0],
                          ": the files do not belong together"));
  }
  // Of the same size and yet another: every id would mean something else.
  const auto hash = file.metadata().find("tokenizer");
  if (hash != file.metadata().end() && hash->second != cat(files.tokenizer->fingerprint())) {
    throw world_error(
        cat("'", printable((files.dir / "tokenizer.json").native()), "' (hash ",
            files.tokenizer->fingerprint(), ") is not the tokenizer this model was trained with (hash ",
            printable(hash->second), ")"),
        "put back the tokenizer.json that the run wrote");
  }
  GPT declared(files.config.model, files.tokenizer->vocab_size());
  require_tensors(file, weights, parameter_shapes(declared));
  return files;
}

std::vector<NamedShape> parameter_shapes(GPT& model) {
  std::vector<NamedShape> shapes;
  for (const auto& [name, parameter] : model.named_parameters()) shapes.push_back({name, parameter->shape});
  return shapes;
}

void require_memory(GPT& model, const Device& device, bool trainable) {
  const ModelConfig& config = model.config();
  // 2^63 bytes are out of reach of every range in ModelConfig: at most 1000 layers of 2^40 weights.
  const auto parameters = static_cast<std::uint64_t>(model.parameter_count());
  const auto cache = static_cast<std::uint64_t>(2 * config.n_layer * config.block_size) *
                     static_cast<std::uint64_t>(config.kv_heads() * config.head_size());
  const std::uint64_t need = sizeof(float) * (trainable ? 4 * parameters : parameters + cache);
  const std::uint64_t all = device.caps().memory_bytes;
  const std::uint64_t used = std::min(all, device.stats().block_bytes);
  if (need <= all - used) return;
  throw world_error(cat("a model of ", parameters, " parameters needs ", size_text(need), " of memory",
                        trainable ? " for weights, gradients and moments" : " for weights and cache", "; ",
                        device.name(), " has ", size_text(all - used)),
                    "lower model.n_layer, model.n_embd, model.block_size or tokenizer.vocab_size");
}

std::unique_ptr<GPT> load_model(const ModelFiles& files, Device& device) {
  auto model = std::make_unique<GPT>(files.config.model, files.tokenizer->vocab_size());
  require_memory(*model, device, false);
  model->materialise(device, false);
  load_weights(files.dir, *model);
  model->eval();
  return model;
}

void load_weights(const Path& dir, GPT& model) {
  // A link that leads nowhere is damage, not absence.
  std::error_code ignored;
  if (fs::symlink_status(dir / "trainer_state.json", ignored).type() != fs::file_type::not_found) {
    TensorChecksums checksums;
    read_trainer_state(dir, checksums);
    require_checksum(dir / "model.safetensors", checksums.model);
  }
  std::vector<NamedTensor> tensors;
  for (const auto& [name, parameter] : model.named_parameters()) tensors.push_back({name, parameter->tensor});
  read_tensors(dir / "model.safetensors", tensors);
}

}  // namespace llmtool
