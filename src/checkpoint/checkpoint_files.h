// What reading and writing of checkpoints share. Internal to checkpoint.
#pragma once
#include <vector>

#include "checkpoint/tensor_file.h"
#include "checkpoint/trainer_state.h"

namespace llmtool {

/// The optimizer's moments that exist, by parameter: all "m/<name>", then all "v/<name>". By name, so that
/// the geometry of slabs stays out of the file.
std::vector<NamedTensor> moment_tensors(GPT& model);
/// world_error unless every file of the checkpoint is there, fits the others and has its checksum.
void require_good_checkpoint(const Path& checkpoint);

}  // namespace llmtool
