// From configuration to token ids, and the token file of a run folder.
#include "train/prepared_data.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "checkpoint/tokenizer_file.h"
#include "formats/safetensors.h"
#include "text/builtin_corpus.h"
#include "text/corpus.h"
#include "text/fingerprint.h"
#include "text/make_tokenizer.h"

namespace llmtool {

namespace {

std::uint64_t fingerprint_of(const TokenDataset& dataset) {
  Fingerprint f;
  for (const auto part : {dataset.train(), dataset.val()})
    f.add(std::string_view(reinterpret_cast<const char*>(part.data()), part.size_bytes()));
  return f.value();
}

PreparedData finish(std::shared_ptr<Tokenizer> tokenizer, TokenDataset dataset, std::int64_t block_size) {
  dataset.require_window(block_size);
  const std::uint64_t fingerprint = fingerprint_of(dataset);
  return {std::move(tokenizer), std::move(dataset), fingerprint};
}

}  // namespace

PreparedData prepare_data(const TrainConfig& config, std::shared_ptr<Tokenizer> tokenizer) {
  const bool builtin = config.data.paths.empty();
  const std::string train_text = builtin ? std::string(builtin_corpus()) : load_text(config.data.paths);
  const std::string val_text =
      config.data.val_paths.empty() ? std::string() : load_text(config.data.val_paths);
  if (!tokenizer) {
    if (config.tokenizer.type == "file") {
      if (!config.tokenizer.path)
        throw request_error("tokenizer.type is file, but tokenizer.path is not set");
      tokenizer = load_tokenizer(Path(*config.tokenizer.path));
    } else {
      // A character vocabulary is of all data, validation included; merges are learned from the training text
      // alone.
      const bool all = resolved_tokenizer_type(config.tokenizer, builtin) == "char";
      tokenizer = all && !val_text.empty() ? make_tokenizer(config.tokenizer, train_text + val_text, builtin)
                                           : make_tokenizer(config.tokenizer, train_text, builtin);
    }
  }
  std::vector<std::int32_t> tokens = tokenizer->encode(train_text);
  TokenDataset dataset = val_text.empty() ? TokenDataset(std::move(tokens), config.data.val_fraction)
                                          : TokenDataset(std::move(tokens), tokenizer->encode(val_text));
  return finish(std::move(tokenizer), std::move(dataset), config.model.block_size);
}

void save_tokens(const Path& file, const PreparedData& data) {
  SafetensorsWriter writer(file,
                           {{"format", "llmtool-1"}, {"tokenizer", cat(data.tokenizer->fingerprint())}});
  const std::pair<const char*, std::span<const std::int32_t>> parts[] = {{"train", data.dataset.train()},
                                                                         {"val", data.dataset.val()}};
  for (const auto& [name, ids] : parts) writer.declare(name, "I32", {static_cast<std::int64_t>(ids.size())});
  for (const auto& [name, ids] : parts) writer.append(name, std::as_bytes(ids));
  writer.close();
}

PreparedData load_tokens(const Path& file, std::shared_ptr<Tokenizer> tokenizer, std::int64_t block_size) {
  const SafetensorsFile tokens(file);
  const auto belongs = tokens.metadata().find("tokenizer");
  if (belongs == tokens.metadata().end() || belongs->second != cat(tokenizer->fingerprint()))
    throw world_error(
        cat(file.string(), ": its token ids were made by another tokenizer than the checkpoint's"),
        "pass --data to encode the texts anew");
  const auto read = [&](const char* name) {
    const TensorInfo* info = tokens.find(name);
    if (info == nullptr || info->dtype != "I32" || info->shape.size() != 1)
      throw world_error(cat(file.string(), ": holds no list of i32 token ids named '", name, "'"));
    std::vector<std::int32_t> ids(static_cast<std::size_t>(info->shape[0]));
    const auto bytes = tokens.data(*info);
    if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
    const auto bad = std::find_if(ids.begin(), ids.end(),
                                  [&](std::int32_t id) { return id < 0 || id >= tokenizer->vocab_size(); });
    if (bad != ids.end())
      throw world_error(cat(file.string(), ": token id ", *bad, " at ", bad - ids.begin(), " of '", name,
                            "' is outside the vocabulary of ", tokenizer->vocab_size()));
    return ids;
  };
  std::vector<std::int32_t> train = read("train");
  std::vector<std::int32_t> val = read("val");
  TokenDataset dataset =
      val.empty() ? TokenDataset(std::move(train), 0.0) : TokenDataset(std::move(train), std::move(val));
  return finish(std::move(tokenizer), std::move(dataset), block_size);
}

std::string sample_prompt(const TrainConfig& config, const PreparedData& data) {
  if (config.train.sample_prompt) return *config.train.sample_prompt;
  // The first words of the text, as far as a few tokens and the first line go.
  constexpr std::size_t most_tokens = 11;
  const auto train = data.dataset.train();
  std::string text = data.tokenizer->decode(train.first(std::min(most_tokens, train.size())));
  if (const std::size_t end = text.find('\n', 1); end != std::string::npos) text.resize(end);
  text.resize(complete_utf8_prefix(text));
  return text;
}

}  // namespace llmtool
