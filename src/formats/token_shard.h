// Token ids in files that are mapped, not loaded: shards of one sequence. A header of 64 bytes, then the ids,
// all numbers with the lowest byte first:
//
//   0  8  "llmtoken"                 24  8  tokens of the vocabulary
//   8  4  version, 1                 32  8  ids in this file
//  12  4  bytes of an id, 2 or 4     40  8  checksum of the ids
//  16  8  vocabulary hash            48  4  number of this shard, from 0
//                                    52  4  how many shards there are
//                                    56  8  bytes of text that the ids stand for
//
// Not here: tokenizers; a vocabulary is its hash and its size.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"

namespace llmtool {

struct TokenShardHeader {
  std::uint32_t width = 2;
  std::uint64_t vocab_hash = 0;
  std::uint64_t vocab_size = 0;
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
  std::uint32_t index = 0;
  std::uint32_t shards = 1;
  std::uint64_t text_bytes = 0;
};

/// A file's name ends in this.
inline constexpr std::string_view token_shard_extension = ".tokens";
inline constexpr std::size_t token_shard_header_bytes = 64;

/// The narrowest of 2 and 4 bytes that holds all ids of a vocabulary.
constexpr std::uint32_t token_width(std::uint64_t vocab_size) noexcept { return vocab_size <= 65536 ? 2 : 4; }

/// A file mapped and checked as hostile.
class TokenShard {
 public:
  /// Checks the header: magic, version, width, count against the file's size, numbers of shards. world_error
  /// naming the file and what is wrong. Nothing but the header is read.
  explicit TokenShard(const Path& path);

  const Path& path() const noexcept { return path_; }
  const TokenShardHeader& header() const noexcept { return header_; }
  /// The ids, header().width bytes each, lowest byte first.
  std::span<const std::byte> ids() const noexcept { return file_->bytes().subspan(token_shard_header_bytes); }
  /// What keeps ids() alive.
  std::shared_ptr<const MappedFile> file() const noexcept { return file_; }

  /// Reads every id once: world_error at the first that is not below vocab_size, or if the checksum is not
  /// the header's. Can be interrupted.
  void check_ids() const;

 private:
  Path path_;
  std::shared_ptr<const MappedFile> file_;
  TokenShardHeader header_;
};

/// The shards of a folder or the one file that `path` is, in order, headers checked against each other;
/// nullopt if `path` is neither. world_error if a shard is missing or of another set.
std::optional<std::vector<TokenShard>> open_token_shards(const Path& path);

/// Writes shard-00000.tokens and so on into a folder: each beside its final name, all renamed by close().
class TokenShardWriter {
 public:
  /// At most `ids_per_shard` (at least 1) in each. world_error if the folder cannot be written to.
  TokenShardWriter(Path folder, std::uint64_t vocab_hash, std::uint64_t vocab_size,
                   std::uint64_t ids_per_shard);
  /// Without close(), removes what it wrote.
  ~TokenShardWriter();
  TokenShardWriter(const TokenShardWriter&) = delete;
  TokenShardWriter& operator=(const TokenShardWriter&) = delete;

  /// `lengths`: bytes of text by id.
  void write(std::span<const std::int32_t> ids, std::span<const std::uint32_t> lengths);
  /// Headers, flush, rename; shards that were in the folder are removed. The names, in order.
  std::vector<Path> close();

  std::uint64_t count() const noexcept { return total_; }

 private:
  struct Open;
  void begin_shard();
  void end_shard();

  Path folder_;
  TokenShardHeader common_;
  std::uint64_t ids_per_shard_;
  std::uint64_t total_ = 0;
  std::vector<TokenShardHeader> headers_;  ///< Of the shards so far.
  std::unique_ptr<Open> open_;             ///< The last of them, while it is written.
  bool closed_ = false;
};

}  // namespace llmtool
