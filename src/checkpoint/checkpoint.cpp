// Reading and checking one checkpoint.
#include "checkpoint/checkpoint.h"

#include "base/error.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/model_dir.h"
#include "checkpoint/tokenizer_file.h"

namespace llmtool {
namespace {

void require_fingerprint(const Path& checkpoint, const TrainerState& state, const Tokenizer& tokenizer) {
  if (tokenizer.fingerprint() == state.tokenizer_fingerprint) return;
  throw world_error(cat("'", printable((checkpoint / "tokenizer.json").native()),
                        "' is not the tokenizer this checkpoint was trained with"),
                    "put back the tokenizer.json that the run wrote");
}

}  // namespace

std::vector<NamedTensor> moment_tensors(GPT& model) {
  std::vector<NamedTensor> tensors;
  const auto parameters = model.named_parameters();
  for (const int which : {1, 2}) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor moment = model.slabs().moment(i, which);
      if (moment.defined()) tensors.push_back({cat(which == 1 ? "m/" : "v/", parameters[i].name), moment});
    }
  }
  return tensors;
}

void require_good_checkpoint(const Path& checkpoint) {
  const ModelFiles files = open_model(checkpoint);
  TensorChecksums checksums;
  const TrainerState state = read_trainer_state(files.dir, checksums);
  require_fingerprint(files.dir, state, *files.tokenizer);
  require_checksum(files.dir / "model.safetensors", checksums.model);
  require_checksum(files.dir / "optimizer.safetensors", checksums.optimizer);
}

TrainerState load_checkpoint(const Path& checkpoint, GPT& model) {
  TensorChecksums checksums;
  const TrainerState state = read_trainer_state(checkpoint, checksums);
  require_fingerprint(checkpoint, state, *load_tokenizer(checkpoint));
  require_checksum(checkpoint / "optimizer.safetensors", checksums.optimizer);
  load_weights(checkpoint, model);
  std::vector<NamedTensor> moments = moment_tensors(model);
  read_tensors(checkpoint / "optimizer.safetensors", moments);
  return state;
}

}  // namespace llmtool
