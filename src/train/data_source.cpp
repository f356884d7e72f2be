// DataSource.
#include "train/data_source.h"

#include <utility>

#include "base/error.h"
#include "base/file_reader.h"
#include "checkpoint/tokenizer_file.h"
#include "text/bpe_model.h"
#include "text/corpus.h"
#include "text/encode_threads.h"
#include "text/fingerprint.h"

namespace llmtool {

DataSource::DataSource(const std::vector<std::string>& paths) : paths_(paths) {
  const std::string *text = nullptr, *packed = nullptr;
  for (const std::string& name : paths) {
    std::error_code hidden;
    if (name != "-" && std::filesystem::status(name, hidden).type() == std::filesystem::file_type::not_found)
      const FileReader says_why(name);
    auto shards = name == "-" ? std::nullopt : open_token_shards(name);
    (shards ? packed : text) = &name;
    if (shards)
      for (TokenShard& shard : *shards) shards_.push_back(std::move(shard));
    if (text != nullptr && packed != nullptr)
      throw request_error(cat("data: '", printable(*packed), "' holds token shards and '", printable(*text),
                              "' text: give either the one or the other"));
  }
}

std::string DataSource::text() const { return load_text(paths_); }

std::unique_ptr<Tokenizer> DataSource::own_tokenizer() const {
  const Path path(paths_.front());
  std::error_code ignored;
  const Path folder = std::filesystem::is_directory(path, ignored) ? path : path.parent_path();
  const Path file = folder / "tokenizer.json";
  if (!std::filesystem::exists(file, ignored))
    throw world_error(
        cat("'", printable(paths_.front()), "': no tokenizer.json lies beside its token shards"),
        "put it back, or name the tokenizer: tokenizer.type=file and tokenizer.path");
  std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(file);
  const TokenShard& first = shards_.front();
  if (first.header().vocab_hash != tokenizer->fingerprint())
    throw world_error(
        cat("'", printable(file.native()), "' is not the tokenizer that '", printable(first.path().native()),
            "' was packed with"),
        "pack the text again with --overwrite (as after a packing that was stopped), or put the "
        "right one there");
  return tokenizer;
}

TokenView DataSource::packed_tokens(const Tokenizer& tokenizer) const {
  TokenView view;
  for (const TokenShard& shard : shards_) {
    const TokenShardHeader& h = shard.header();
    if (h.vocab_hash != tokenizer.fingerprint() || std::cmp_not_equal(h.vocab_size, tokenizer.vocab_size()))
      throw world_error(
          cat("'", printable(shard.path().native()), "' was packed with another tokenizer (hash ",
              h.vocab_hash, ", ", h.vocab_size, " tokens) than the one to be used (hash ",
              tokenizer.fingerprint(), ", ", tokenizer.vocab_size(), " tokens)"),
          "pack the text with this tokenizer, or leave tokenizer.type at auto");
  }
  static_assert(max_token_bytes <= token_shard_longest_token);
  const std::vector<std::uint32_t> lengths = token_lengths(tokenizer);
  for (const TokenShard& shard : shards_) {
    shard.check_ids(lengths);
    view.append_little_endian(shard.ids(), shard.header().width, shard.file());
  }
  return view;
}

std::uint64_t DataSource::packed_fingerprint() const {
  Fingerprint f;
  for (const TokenShard& shard : shards_) {
    f.add(shard.header().count);
    f.add(shard.header().checksum);
  }
  return f.value();
}

TokenView tokens_of(const DataSource& source, const Tokenizer& tokenizer, ThreadPool& pool) {
  if (source.packed()) return source.packed_tokens(tokenizer);
  return TokenView::owning(encode_on(pool, tokenizer, source.text()));
}

}  // namespace llmtool
