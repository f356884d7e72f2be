// TokenShardWriter: ids through a buffer; the headers, which hold what is known only at the end, come last.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "formats/token_shard.h"
#include "formats/token_shard_bytes.h"

namespace llmtool {
namespace {

namespace fs = std::filesystem;
using token_shard::put_number;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

std::string shard_name(std::size_t index) {
  const std::string number = cat(index);
  return cat("shard-", std::string(number.size() < 5 ? 5 - number.size() : 0, '0'), number,
             token_shard_extension);
}

Path temporary_of(const Path& folder, std::size_t index) {
  const Path path = folder / cat(".", shard_name(index), ".tmp");
  LLMTOOL_CHECK(token_shard::is_temporary(path), path.string());
  return path;
}

std::array<std::byte, token_shard_header_bytes> header_bytes(const TokenShardHeader& h) {
  std::array<std::byte, token_shard_header_bytes> bytes{};
  for (std::size_t i = 0; i < token_shard::magic.size(); ++i)
    bytes[i] = static_cast<std::byte>(token_shard::magic[i]);
  put_number<std::uint32_t>(bytes, 8, token_shard::version);
  put_number<std::uint32_t>(bytes, 12, h.width);
  put_number<std::uint64_t>(bytes, 16, h.vocab_hash);
  put_number<std::uint64_t>(bytes, 24, h.vocab_size);
  put_number<std::uint64_t>(bytes, 32, h.count);
  put_number<std::uint64_t>(bytes, 40, h.checksum);
  put_number<std::uint32_t>(bytes, 48, h.index);
  put_number<std::uint32_t>(bytes, 52, h.shards);
  put_number<std::uint64_t>(bytes, 56, h.text_bytes);
  put_number<std::uint64_t>(bytes, 64, h.set_hash);
  return bytes;
}

}  // namespace

struct TokenShardWriter::Open {
  FileWriter file;
  token_shard::Checksum checksum;
  std::vector<std::byte> buffer;

  explicit Open(const Path& path) : file(path) {
    file.write(std::array<std::byte, token_shard_header_bytes>{});
    buffer.reserve(buffer_bytes);
  }
  void flush() {
    checksum.add(buffer);
    file.write(buffer);
    buffer.clear();
  }
};

TokenShardWriter::TokenShardWriter(Path folder, std::uint64_t vocab_hash, std::uint64_t vocab_size,
                                   std::uint64_t ids_per_shard)
    : folder_(std::move(folder)), ids_per_shard_(ids_per_shard) {
  LLMTOOL_CHECK(ids_per_shard > 0, "ids_per_shard");
  make_writable_directory(folder_);
  common_.width = token_width(vocab_size);
  common_.vocab_hash = vocab_hash;
  common_.vocab_size = vocab_size;
}

TokenShardWriter::~TokenShardWriter() {
  if (closed_) return;
  open_.reset();
  std::error_code ignored;
  for (std::size_t i = 0; i < headers_.size(); ++i) fs::remove(temporary_of(folder_, i), ignored);
}

void TokenShardWriter::begin_shard() {
  TokenShardHeader header = common_;
  header.index = static_cast<std::uint32_t>(headers_.size());
  headers_.push_back(header);
  open_ = std::make_unique<Open>(temporary_of(folder_, headers_.size() - 1));
}

void TokenShardWriter::end_shard() {
  open_->flush();
  headers_.back().checksum = open_->checksum.value();
  open_->file.close();
  open_.reset();
}

void TokenShardWriter::write(std::span<const std::int32_t> ids, std::span<const std::uint32_t> lengths) {
  for (std::size_t at = 0; at < ids.size();) {
    if (open_ && headers_.back().count == ids_per_shard_) end_shard();
    if (!open_) begin_shard();
    TokenShardHeader& header = headers_.back();
    const std::size_t room = (buffer_bytes - open_->buffer.size()) / header.width;
    const auto n = static_cast<std::size_t>(
        std::min<std::uint64_t>({ids.size() - at, room, ids_per_shard_ - header.count}));
    for (const std::int32_t id : ids.subspan(at, n)) {
      LLMTOOL_CHECK(id >= 0 && static_cast<std::uint64_t>(id) < common_.vocab_size, "id ", id);
      header.text_bytes += lengths[static_cast<std::size_t>(id)];
      const auto word = static_cast<std::uint32_t>(id);
      for (std::uint32_t b = 0; b < header.width; ++b)
        open_->buffer.push_back(static_cast<std::byte>(word >> (8 * b) & 0xFFu));
    }
    header.count += n;
    total_ += n;
    at += n;
    if (open_->buffer.size() == buffer_bytes) open_->flush();
  }
}

void TokenShardWriter::finish() {
  if (finished_) return;
  if (headers_.empty()) begin_shard();
  if (open_) end_shard();
  for (TokenShardHeader& header : headers_) header.shards = static_cast<std::uint32_t>(headers_.size());
  const std::uint64_t hash = token_shard::set_hash(headers_);
  for (TokenShardHeader& header : headers_) {
    header.set_hash = hash;
    overwrite_file(temporary_of(folder_, header.index), 0, header_bytes(header));
  }
  finished_ = true;
}

std::vector<Path> TokenShardWriter::close() {
  finish();
  // Over the shards of an earlier set, then what it had more of: at every instant some shard is there, and
  // shards of two sets do not pass for one.
  std::error_code code;
  std::vector<Path> names;
  for (const TokenShardHeader& header : headers_) {
    const Path& name = names.emplace_back(folder_ / shard_name(header.index));
    fs::rename(temporary_of(folder_, header.index), name, code);
    if (code) throw world_error(cat("cannot write '", printable(name.native()), "': ", code.message()));
  }
  std::vector<Path> others;  // and what a run that was killed left
  for (fs::directory_iterator it(folder_, code), end; !code && it != end; it.increment(code)) {
    const Path& file = it->path();
    if (token_shard::is_temporary(file) || (file.extension() == token_shard_extension &&
                                            std::find(names.begin(), names.end(), file) == names.end()))
      others.push_back(file);
  }
  for (const Path& file : others) fs::remove(file, code);
  closed_ = true;
  sync_directory(folder_);
  return names;
}

}  // namespace llmtool
