// Reading token shards: everything in a header is checked before it is used.
#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"
#include "formats/token_shard.h"
#include "formats/token_shard_bytes.h"

namespace llmtool {
namespace {

namespace fs = std::filesystem;
using token_shard::number_at;

constexpr std::uint64_t max_vocab = std::uint64_t{1} << 31;  // ids are std::int32_t in memory

[[noreturn]] void fail(const Path& path, const std::string& what) {
  throw world_error(cat(shown(path), " is no token shard that can be used: ", what));
}

TokenShardHeader checked_header(const Path& path, std::span<const std::byte> bytes) {
  const auto begins_well = [&] {
    for (std::size_t i = 0; i < token_shard::magic.size(); ++i)
      if (std::to_integer<char>(bytes[i]) != token_shard::magic[i]) return false;
    return true;
  };
  const auto require_size = [&](std::size_t least) {
    if (bytes.size() < least)
      fail(path, cat(bytes.size(), " bytes, where the header alone has ", token_shard_header_bytes));
  };
  require_size(token_shard::magic.size() + 4);
  if (!begins_well()) fail(path, cat("it does not begin with \"", token_shard::magic, "\""));
  const auto version = number_at<std::uint32_t>(bytes, 8);
  if (version != token_shard::version)
    fail(path, cat("it has version ", version, " of the layout, this program reads version ",
                   token_shard::version, version < token_shard::version ? ": pack the text again" : ""));
  require_size(token_shard_header_bytes);
  TokenShardHeader h;
  h.width = number_at<std::uint32_t>(bytes, 12);
  if (h.width != 2 && h.width != 4) fail(path, cat("ids of ", h.width, " bytes, expected 2 or 4"));
  h.vocab_hash = number_at<std::uint64_t>(bytes, 16);
  h.vocab_size = number_at<std::uint64_t>(bytes, 24);
  if (h.vocab_size < 1 || h.vocab_size > max_vocab)
    fail(path, cat("a vocabulary of ", h.vocab_size, " tokens, expected 1 to ", max_vocab));
  h.count = number_at<std::uint64_t>(bytes, 32);
  const std::uint64_t room = bytes.size() - token_shard_header_bytes;
  if (room % h.width != 0 || h.count != room / h.width)
    fail(path, cat("the header says ", h.count, " ids of ", h.width, " bytes, the file has ", room,
                   " bytes of them"));
  h.checksum = number_at<std::uint64_t>(bytes, 40);
  h.index = number_at<std::uint32_t>(bytes, 48);
  h.shards = number_at<std::uint32_t>(bytes, 52);
  if (h.index >= h.shards) fail(path, cat("shard number ", h.index, " (from 0) of ", h.shards));
  h.text_bytes = number_at<std::uint64_t>(bytes, 56);
  if (h.text_bytes > h.count * token_shard_longest_token)
    fail(path, cat(h.count, " ids cannot stand for ", h.text_bytes, " bytes of text"));
  h.set_hash = number_at<std::uint64_t>(bytes, 64);
  return h;
}

/// The largest id, eight at a time so that the compiler can use wide registers.
template <class T>
std::uint32_t largest(std::span<const std::byte> bytes) noexcept {
  T most = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) most = std::max(most, number_at<T>(bytes, at));
  return most;
}

/// The lengths of all ids, which must be below lengths.size(), added.
template <class T>
std::uint64_t sum_of(std::span<const std::byte> bytes, std::span<const std::uint32_t> lengths) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) sum += lengths[number_at<T>(bytes, at)];
  return sum;
}

std::vector<TokenShardHeader> headers_of(const std::vector<TokenShard>& shards) {
  std::vector<TokenShardHeader> headers;
  for (const TokenShard& shard : shards) headers.push_back(shard.header());
  return headers;
}

/// A folder without shards: were they being written when the program was killed?
bool packing_was_stopped(const Path& folder) {
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (token_shard::is_temporary(it->path())) return true;
  return false;
}

}  // namespace

TokenShard::TokenShard(const Path& path)
    : path_(path), file_(std::make_shared<MappedFile>(path)), header_(checked_header(path, file_->bytes())) {}

void TokenShard::check_ids(std::span<const std::uint32_t> lengths) const {
  LLMTOOL_CHECK(lengths.empty() || lengths.size() == header_.vocab_size, lengths.size(), " lengths");
  constexpr std::size_t block = std::size_t{1} << 16;  // stays in the cache between the two passes
  token_shard::Checksum checksum;
  std::uint64_t text_bytes = 0;
  const std::span<const std::byte> all = ids();
  for (std::size_t at = 0; at < all.size(); at += block) {
    if (at % (std::size_t{1} << 26) == 0) throw_if_interrupted();
    const auto bytes = all.subspan(at, std::min(block, all.size() - at));
    const std::uint32_t most =
        header_.width == 2 ? largest<std::uint16_t>(bytes) : largest<std::uint32_t>(bytes);
    if (most >= header_.vocab_size)
      fail(path_, cat("token id ", most, " among ids ", at / header_.width, " to ",
                      (at + bytes.size()) / header_.width - 1, " is outside the vocabulary of ",
                      header_.vocab_size));
    checksum.add(bytes);
    if (lengths.empty()) continue;
    text_bytes +=
        header_.width == 2 ? sum_of<std::uint16_t>(bytes, lengths) : sum_of<std::uint32_t>(bytes, lengths);
  }
  if (checksum.value() != header_.checksum) fail(path_, "its ids are damaged, their checksum is another");
  if (!lengths.empty() && text_bytes != header_.text_bytes)
    fail(path_,
         cat("the header says ", header_.text_bytes, " bytes of text, its ids stand for ", text_bytes));
}

std::optional<std::vector<TokenShard>> open_token_shards(const Path& path) {
  std::error_code code;
  std::vector<TokenShard> shards;
  if (!fs::is_directory(path, code)) {
    if (path.extension() != token_shard_extension) return std::nullopt;
    const TokenShard& only = shards.emplace_back(path);
    if (only.header().shards == 1 && token_shard::set_hash(headers_of(shards)) != only.header().set_hash)
      fail(path, "its header is damaged, the hash of the set is another");
    return shards;
  }
  std::vector<Path> files;
  for (fs::directory_iterator it(path, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == token_shard_extension) files.push_back(it->path());
  if (code) throw world_error(cat("cannot read folder ", shown(path), ": ", code.message()));
  if (files.empty()) {
    if (packing_was_stopped(path))
      throw world_error(cat("folder ", shown(path), " holds token shards that were not finished"),
                        "pack the text again");
    return std::nullopt;
  }
  std::sort(files.begin(), files.end());
  for (const Path& file : files) {
    const TokenShardHeader& h = shards.emplace_back(file).header();
    const TokenShardHeader& first = shards.front().header();
    if (h.set_hash != first.set_hash || h.shards != first.shards || h.vocab_hash != first.vocab_hash ||
        h.vocab_size != first.vocab_size || h.width != first.width)
      throw world_error(
          cat(shown(file), " is of another set of token shards than ", shown(files.front())),
          "keep one set in a folder; a packing that was stopped must be repeated with --overwrite");
  }
  std::stable_sort(shards.begin(), shards.end(), [](const TokenShard& a, const TokenShard& b) {
    return a.header().index < b.header().index;
  });
  const TokenShardHeader& first = shards.front().header();
  for (std::size_t i = 0; i < std::max<std::size_t>(shards.size(), first.shards); ++i) {
    if (i >= shards.size() || shards[i].header().index > i)
      throw world_error(
          cat("folder ", shown(path), ": shard number ", i, " (from 0) of ", first.shards, " is missing"));
    if (shards[i].header().index < i)
      throw world_error(
          cat("folder ", shown(path), ": shard number ", shards[i].header().index, " is there twice"));
  }
  if (token_shard::set_hash(headers_of(shards)) != first.set_hash)
    throw world_error(cat("folder ", shown(path),
                          ": the headers of its token shards are damaged, the hash of the set is another"));
  return shards;
}

}  // namespace llmtool
