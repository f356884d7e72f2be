// Token ids in files that are mapped, not loaded: shards of one sequence. A header of 72 bytes, then the ids,
// all numbers with the lowest byte first:
//
//   0  8  "llmtoken"                 32  8  ids in this file
//   8  4  version, 2                 40  8  checksum of the ids
//  12  4  bytes of an id, 2 or 4     48  4  number of this shard, from 0
//  16  8  vocabulary hash            52  4  how many shards there are
//  24  8  tokens of the vocabulary   56  8  bytes of text that the ids stand for
//                                    64  8  hash of the set
//
// The hash of the set is the checksum of these numbers, eight bytes each: version, bytes of an id, vocabulary
// hash, tokens of the vocabulary, shards, and for each shard in order ids, checksum and bytes of text. It is
// thus the same for the same ids of the same vocabulary, and tells shards of another packing by it. (Version
// 1 had no such hash and is not read any more.)
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
  std::uint64_t set_hash = 0;
};

/// A file's name ends in this.
inline constexpr std::string_view token_shard_extension = ".tokens";
inline constexpr std::size_t token_shard_header_bytes = 72;
/// No token of a vocabulary stands for more bytes of text.
inline constexpr std::uint64_t token_shard_longest_token = std::uint64_t{1} << 16;

/// The narrowest of 2 and 4 bytes that holds all ids of a vocabulary.
constexpr std::uint32_t token_width(std::uint64_t vocab_size) noexcept { return vocab_size <= 65536 ? 2 : 4; }

/// A file mapped and checked as hostile.
class TokenShard {
 public:
  /// Checks the header: magic, version, width, count against the file's size, numbers of shards, bytes of
  /// text against the count. world_error naming the file and what is wrong. Nothing but the header is read.
  explicit TokenShard(const Path& path);

  const Path& path() const noexcept { return path_; }
  const TokenShardHeader& header() const noexcept { return header_; }
  /// The ids, header().width bytes each, lowest byte first.
  std::span<const std::byte> ids() const noexcept { return file_->bytes().subspan(token_shard_header_bytes); }
  /// What keeps ids() alive.
  std::shared_ptr<const MappedFile> file() const noexcept { return file_; }

  /// Reads every id once: world_error at the first that is not below vocab_size, or if the checksum is not
  /// the header's. With `lengths`, the bytes of text by id (vocab_size numbers), also if their sum is not the
  /// header's text_bytes. Can be interrupted.
  void check_ids(std::span<const std::uint32_t> lengths = {}) const;

 private:
  Path path_;
  std::shared_ptr<const MappedFile> file_;
  TokenShardHeader header_;
};

/// The shards of a folder or the one file that `path` is, in order, headers checked against each other;
/// nullopt if `path` is neither. world_error if a shard is missing or of another set, or if there is nothing
/// but the beginning of a packing that was stopped.
std::optional<std::vector<TokenShard>> open_token_shards(const Path& path);

/// Writes shard-00000.tokens and so on into a folder: each beside its final name, all renamed by close(). A
/// crash at any instant leaves the shards that were there, a part of the new ones under temporary names, or a
/// mixture of both sets, which open_token_shards() refuses.
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
  /// The last ids and the headers on disk, still under temporary names: all that may fail for want of room.
  void finish();
  /// finish(), rename; other shards that were in the folder are removed. The names, in order.
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
  bool finished_ = false, closed_ = false;
};

}  // namespace llmtool
