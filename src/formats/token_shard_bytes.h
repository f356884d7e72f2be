// What reader and writer of token shards share: numbers in little-endian order and the checksum. Internal to
// token_shard.h.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace llmtool::token_shard {

inline constexpr std::string_view magic = "llmtoken";
inline constexpr std::uint32_t version = 1;

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

}  // namespace llmtool::token_shard
