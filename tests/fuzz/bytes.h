// Cutting the bytes that a fuzzer gives into the parts a target needs. Not a random generator: the same bytes
// give the same parts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  /// The next byte, 0 at the end.
  unsigned next() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// What is left.
  std::string_view rest() const { return rest_; }
  /// Up to and without the next `end`; all that is left if there is none.
  std::string until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    const std::string part(rest_.substr(0, at));
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
    return part;
  }

 private:
  std::string_view rest_;
};

/// Not LLMTOOL_CHECK: a fuzzer must see a crash.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}
