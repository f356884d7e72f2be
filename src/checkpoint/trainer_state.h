// trainer_state.json: TrainerState, and checksums of the two tensor files beside it. Internal to checkpoint.
#pragma once
#include <string>

#include "base/files.h"
#include "checkpoint/checkpoint.h"

namespace llmtool {

/// What the checkpoint's tensor files must hash to; a flipped bit in a weight shows nowhere else.
struct TensorChecksums {
  std::uint64_t model = 0;
  std::uint64_t optimizer = 0;
};

/// A 64-bit hash of a file's bytes, eight at a time (not for security). world_error if it cannot be read.
std::uint64_t file_checksum(const Path& path);
/// world_error naming the file unless its checksum is `expected`.
void require_checksum(const Path& path, std::uint64_t expected);

std::string trainer_state_json(const TrainerState& state, const TensorChecksums& checksums);
/// world_error that names `origin` and the key for anything missing, unknown or of a wrong type.
TrainerState parse_trainer_state(const std::string& json, const std::string& origin,
                                 TensorChecksums& checksums);
/// trainer_state.json of a checkpoint.
TrainerState read_trainer_state(const Path& checkpoint, TensorChecksums& checksums);

}  // namespace llmtool
