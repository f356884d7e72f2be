// From configuration to token ids, and the token file of a run folder.
#include "train/prepared_data.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "checkpoint/tokenizer_file.h"
#include "formats/safetensors.h"
#include "text/builtin_corpus.h"
#include "text/encode_threads.h"
#include "text/fingerprint.h"
#include "text/make_tokenizer.h"
#include "train/data_source.h"

namespace llmtool {

namespace {

constexpr std::int64_t block_ids = 1 << 16;  ///< Copied out of a TokenView at a time.

std::uint64_t fingerprint_of(const TokenDataset& dataset) {
  Fingerprint f;
  for (const TokenView* part : {&dataset.train(), &dataset.val()}) {
    f.add(static_cast<std::uint64_t>(part->size()) * sizeof(std::int32_t));
    for (std::int64_t at = 0; at < part->size(); at += block_ids) {
      const std::vector<std::int32_t> ids = part->ids(at, std::min(block_ids, part->size() - at));
      f.add_bytes(
          std::string_view(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(std::int32_t)));
    }
  }
  return f.value();
}

PreparedData finish(std::shared_ptr<Tokenizer> tokenizer, TokenDataset dataset, std::int64_t block_size) {
  dataset.require_window(block_size);
  const std::uint64_t fingerprint = fingerprint_of(dataset);
  return {std::move(tokenizer), std::move(dataset), fingerprint};
}

std::shared_ptr<Tokenizer> named_tokenizer(const TokenizerConfig& config) {
  if (!config.path) throw request_error("tokenizer.type is file, but tokenizer.path is not set");
  return load_tokenizer(Path(*config.path));
}

/// Of token shards: the one named, else the one beside them, which nothing in `config` may contradict.
std::shared_ptr<Tokenizer> tokenizer_of(const TokenizerConfig& config, const DataSource& packed) {
  if (config.type == "file") return named_tokenizer(config);
  std::shared_ptr<Tokenizer> own = packed.own_tokenizer();
  if (config.type != "auto" && config.type != own->type())
    throw request_error(cat("tokenizer.type is ", config.type,
                            ", but the token shards were packed with one of type ", own->type()),
                        "leave tokenizer.type at auto, or give the text itself");
  return own;
}

PreparedData prepare_packed(const TrainConfig& config, const DataSource& train, const DataSource& val,
                            bool has_val, std::shared_ptr<Tokenizer> tokenizer, ThreadPool& pool) {
  if (!tokenizer) tokenizer = tokenizer_of(config.tokenizer, train.packed() ? train : val);
  TokenView tokens = tokens_of(train, *tokenizer, pool);
  TokenDataset dataset = has_val ? TokenDataset(std::move(tokens), tokens_of(val, *tokenizer, pool))
                                 : TokenDataset(tokens, config.data.val_fraction);
  dataset.require_window(config.model.block_size);
  Fingerprint f;
  f.add(train.packed_fingerprint());
  f.add(val.packed_fingerprint());
  f.add(static_cast<std::uint64_t>(dataset.train().size()));
  f.add(static_cast<std::uint64_t>(dataset.val().size()));
  return {std::move(tokenizer), std::move(dataset), f.value(), true};
}

}  // namespace

PreparedData prepare_data(const TrainConfig& config, std::shared_ptr<Tokenizer> tokenizer, int threads) {
  const bool builtin = config.data.paths.empty();
  const DataSource train(config.data.paths), val(config.data.val_paths);
  ThreadPool pool(threads);
  if (train.packed() || (val.packed() && !builtin && (tokenizer || config.tokenizer.type == "file")))
    return prepare_packed(config, train, val, !config.data.val_paths.empty(), std::move(tokenizer), pool);
  if (val.packed())
    throw request_error(
        "data.val_paths names token shards, but data.paths text, from which a tokenizer of its own "
        "would be made",
        "pack both, or set tokenizer.type=file and tokenizer.path");
  const std::string train_text = builtin ? std::string(builtin_corpus()) : train.text();
  const std::string val_text = config.data.val_paths.empty() ? std::string() : val.text();
  if (!tokenizer) {
    if (config.tokenizer.type == "file") {
      tokenizer = named_tokenizer(config.tokenizer);
    } else {
      // A character vocabulary is of all data, validation included; merges are learned from the training text
      // alone.
      const bool all = resolved_tokenizer_type(config.tokenizer, builtin) == "char";
      tokenizer = all && !val_text.empty()
                      ? make_tokenizer(config.tokenizer, train_text + val_text, builtin, pool)
                      : make_tokenizer(config.tokenizer, train_text, builtin, pool);
    }
  }
  std::vector<std::int32_t> tokens = encode_on(pool, *tokenizer, train_text);
  TokenDataset dataset = val_text.empty()
                             ? TokenDataset(std::move(tokens), config.data.val_fraction)
                             : TokenDataset(std::move(tokens), encode_on(pool, *tokenizer, val_text));
  return finish(std::move(tokenizer), std::move(dataset), config.model.block_size);
}

void save_tokens(const Path& file, const PreparedData& data) {
  SafetensorsWriter writer(file,
                           {{"format", "llmtool-1"}, {"tokenizer", cat(data.tokenizer->fingerprint())}});
  const std::pair<const char*, const TokenView*> parts[] = {{"train", &data.dataset.train()},
                                                            {"val", &data.dataset.val()}};
  for (const auto& [name, ids] : parts) writer.declare(name, "I32", {ids->size()});
  for (const auto& [name, view] : parts) {
    for (std::int64_t at = 0; at < view->size(); at += block_ids) {
      const std::vector<std::int32_t> ids = view->ids(at, std::min(block_ids, view->size() - at));
      writer.append(name, std::as_bytes(std::span(ids)));
    }
  }
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
  constexpr std::int64_t most_tokens = 11;
  const TokenView& train = data.dataset.train();
  std::string text = data.tokenizer->decode(train.ids(0, std::min(most_tokens, train.size())));
  if (const std::size_t end = text.find('\n', 1); end != std::string::npos) text.resize(end);
  text.resize(complete_utf8_prefix(text));
  return text;
}

}  // namespace llmtool
