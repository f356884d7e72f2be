// What data.paths or data.val_paths name: texts, or token shards made by `tokenize pack`. Not here: how the
// tokens are parted (text/dataset.h), what a shard looks like (formats/token_shard.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/threads.h"
#include "formats/token_shard.h"
#include "text/token_view.h"
#include "text/tokenizer.h"

namespace llmtool {

class DataSource {
 public:
  /// Finds out what the paths are; of shards, the headers are checked. world_error where a path does not
  /// exist, request_error where texts and shards are mixed.
  explicit DataSource(const std::vector<std::string>& paths);

  /// Token shards, not texts.
  bool packed() const noexcept { return !shards_.empty(); }
  /// The texts, joined. Not for shards.
  std::string text() const;

  /// The tokenizer that lies beside the shards. world_error where there is none, or another than theirs.
  std::unique_ptr<Tokenizer> own_tokenizer() const;
  /// The ids of the shards, mapped, in order. world_error where they were made with another tokenizer, an id
  /// is outside its vocabulary, the ids stand for more or fewer bytes of text than was packed, or the file is
  /// damaged.
  TokenView packed_tokens(const Tokenizer& tokenizer) const;
  /// Of all ids, from the headers; for shards.
  std::uint64_t packed_fingerprint() const;

 private:
  std::vector<std::string> paths_;
  std::vector<TokenShard> shards_;
};

/// The ids of shards or texts for one tokenizer.
TokenView tokens_of(const DataSource& source, const Tokenizer& tokenizer, ThreadPool& pool);

}  // namespace llmtool
