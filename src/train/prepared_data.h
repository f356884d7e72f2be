// From a configuration to a tokenizer and token ids: what a run reads before any device is opened. Kept in
// the run folder, so that a resume neither retrains the tokenizer nor needs the texts. Not here: windows
// (text/sampler.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "checkpoint/train_config.h"
#include "text/dataset.h"
#include "text/tokenizer.h"

namespace llmtool {

struct PreparedData {
  std::shared_ptr<Tokenizer> tokenizer;
  TokenDataset dataset;
  std::uint64_t fingerprint = 0;  ///< Of all token ids and where they are parted.
  bool packed = false;  ///< The ids are in shards of the user's and need not be kept in the run folder.
};

/// Loads the texts, makes the tokenizer (or takes `tokenizer` as it is, or reads tokenizer.path), encodes,
/// parts off the validation. Where the data are token shards, these are mapped and the tokenizer is the one
/// beside them. Every way in which the data are unfit for `config` is an error here.
PreparedData prepare_data(const TrainConfig& config, std::shared_ptr<Tokenizer> tokenizer = nullptr,
                          int threads = 1);

/// The token ids, as tokens.safetensors of a run folder.
void save_tokens(const Path& file, const PreparedData& data);
/// Reads them back for this tokenizer and block size; world_error if the file is damaged or ids are out of
/// range.
PreparedData load_tokens(const Path& file, std::shared_ptr<Tokenizer> tokenizer, std::int64_t block_size);

/// The prompt of samples: what the configuration says, else the beginning of the training data.
std::string sample_prompt(const TrainConfig& config, const PreparedData& data);

}  // namespace llmtool
