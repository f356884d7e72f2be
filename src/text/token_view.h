// A sequence of token ids wherever they lie: in memory as 32-bit numbers, or in files mapped read-only, 16 or
// 32 bits wide, in several parts. What windows are cut from. Not here: the files (formats/token_shard.h) and
// the meaning of ids.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace llmtool {

/// Cheap to copy: it refers to the ids and, where it was given one, shares what keeps them alive.
class TokenView {
 public:
  TokenView() = default;
  /// Ids that outlive the view.
  TokenView(std::span<const std::int32_t> ids) {
    append(std::as_bytes(ids), sizeof(std::int32_t), true, nullptr);
  }
  TokenView(const std::vector<std::int32_t>& ids) : TokenView(std::span(ids)) {}
  TokenView(std::vector<std::int32_t>&& ids) = delete;
  /// Ids that the view keeps.
  static TokenView owning(std::vector<std::int32_t> ids);

  /// Adds ids at the end, `width` (2 or 4) bytes each, lowest byte first, unsigned and below 2^31; `owner`
  /// keeps the bytes.
  void append_little_endian(std::span<const std::byte> bytes, std::size_t width,
                            std::shared_ptr<const void> owner) {
    append(bytes, width, false, std::move(owner));
  }
  void append(const TokenView& other);

  std::int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The ids begin .. begin + out.size() - 1, which must be there.
  void copy(std::int64_t begin, std::span<std::int32_t> out) const noexcept;
  std::int32_t operator[](std::int64_t at) const noexcept {
    std::int32_t id;
    copy(at, {&id, 1});
    return id;
  }
  std::vector<std::int32_t> ids(std::int64_t begin, std::int64_t count) const;

  /// The ids begin .. begin + count - 1 as a view.
  TokenView part(std::int64_t begin, std::int64_t count) const;

 private:
  struct Part {
    std::int64_t begin;  ///< Of its first id in the whole.
    std::int64_t count;
    const std::byte* data;
    std::size_t width;
    bool native;  ///< std::int32_t as this machine has it.
    std::shared_ptr<const void> owner;
  };
  void append(std::span<const std::byte> bytes, std::size_t width, bool native,
              std::shared_ptr<const void> owner);

  std::vector<Part> parts_;  ///< None empty, ascending.
  std::int64_t size_ = 0;
};

}  // namespace llmtool
