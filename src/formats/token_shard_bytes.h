// What reader and writer of token shards share: numbers in little-endian order, the checksums and how a shard
// is called while it is written. Internal to
// token_shard.h.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "formats/token_shard.h"

namespace llmtool::token_shard {

inline constexpr std::string_view magic = "llmtoken";
inline constexpr std::uint32_t version = 2;

inline constexpr std::string_view temporary_begin = ".shard-", temporary_end = ".tokens.tmp";
/// Whether a file is a shard that is, or was, being written.
inline bool is_temporary(const Path& file) {
  const std::string name = file.filename().string();
  return name.starts_with(temporary_begin) && name.ends_with(temporary_end);
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << 8 | std::to_integer<T>(bytes[at + i]));
  return value;
}

template <class T>
void put_number(std::span<std::byte> bytes, std::size_t at, T value) noexcept {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i) & 0xFFu);
}

/// A 64-bit hash of bytes that come in pieces whose sizes are multiples of eight, but for the last. Not for
/// security.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) mix(number_at<std::uint64_t>(bytes, at));
    std::uint64_t rest = 0;
    for (std::size_t i = bytes.size(); i-- > at;) rest = rest << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    if (at < bytes.size()) mix(rest);
    size_ += bytes.size();
  }
  std::uint64_t value() const noexcept {
    Checksum last = *this;
    last.mix(size_);
    return last.hash_;
  }

 private:
  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u;
    hash_ ^= hash_ >> 29;
  }
  std::uint64_t hash_ = 0x6C6C6D746F6B656Eu;
  std::uint64_t size_ = 0;
};

/// What the headers of all shards of a set, in order, say the set is; their set_hash aside.
inline std::uint64_t set_hash(std::span<const TokenShardHeader> headers) noexcept {
  Checksum sum;
  const auto add = [&](std::uint64_t number) {
    std::byte bytes[8];
    put_number(std::span(bytes), 0, number);
    sum.add(bytes);
  };
  const TokenShardHeader& first = headers.front();
  for (const std::uint64_t n : {std::uint64_t{version}, std::uint64_t{first.width}, first.vocab_hash,
                                first.vocab_size, std::uint64_t{first.shards}})
    add(n);
  for (const TokenShardHeader& h : headers)
    for (const std::uint64_t n : {h.count, h.checksum, h.text_bytes}) add(n);
  return sum.value();
}

}  // namespace llmtool::token_shard
