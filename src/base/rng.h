// Random numbers without state: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A draw is a function of (seed, stream name, step, micro-batch, element), so it is the same on
// every device, for any number of threads, and after a resume. Not here: distributions that need more than
// one line.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace llmtool {

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// One Philox 4x32-10 block: ten rounds of the bijection keyed by `key` applied to `counter`.
PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept;

/// FNV-1a, 64 bit, of a stream's name.
std::uint64_t stream_hash(std::string_view name) noexcept;

/// The two key words of a stream: low and high half of splitmix64(seed ^ splitmix64(stream_hash(name))).
std::array<std::uint32_t, 2> stream_key(std::uint64_t seed, std::string_view name) noexcept;

/// Draws of one named stream. Element e of (step, micro) is word e%4 of block e/4, whose counter is
/// (low 32 bits of e/4, high bits of e/4, micro, step).
class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name) noexcept : key_(stream_key(seed, name)) {}

  std::uint32_t bits(std::uint64_t element, std::uint32_t step = 0, std::uint32_t micro = 0) const noexcept;
  /// Half e%2 of block e/2, the first word being the low one.
  std::uint64_t bits64(std::uint64_t element, std::uint32_t step = 0, std::uint32_t micro = 0) const noexcept;
  /// Uniform in [0, 1), 53 bits.
  double uniform(std::uint64_t element, std::uint32_t step = 0, std::uint32_t micro = 0) const noexcept;
  /// Standard normal by Box-Muller in double, from the two 64-bit halves of block e.
  double normal(std::uint64_t element, std::uint32_t step = 0, std::uint32_t micro = 0) const noexcept;
  /// Uniform in [0, n), n > 0, unbiased to 2^-64 (128-bit multiply).
  std::uint64_t below(std::uint64_t n, std::uint64_t element, std::uint32_t step = 0,
                      std::uint32_t micro = 0) const noexcept;

 private:
  std::array<std::uint32_t, 2> key_;
};

/// A keyed permutation of [0, n): position i of pass `epoch`, computed without storing the shuffle (a
/// four-round Feistel network over the next even power of two, walked until it lands below n).
std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t seed, std::uint64_t epoch) noexcept;

/// A seed from the operating system, for commands that were given none.
std::uint64_t random_seed();

}  // namespace llmtool
