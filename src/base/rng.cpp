// Philox 4x32-10, streams of it, and the keyed permutation.
#include "base/rng.h"

#include <cmath>
#include <numbers>
#include <random>

namespace llmtool {
namespace {

__extension__ typedef unsigned __int128 Wide;

std::uint64_t splitmix64(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

PhiloxBlock block_at(std::uint64_t block, std::uint32_t step, std::uint32_t micro,
                     std::array<std::uint32_t, 2> key) noexcept {
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), micro, step},
                key);
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) noexcept {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

constexpr double two_to_minus_53 = 0x1p-53;

}  // namespace

PhiloxBlock philox(PhiloxBlock c, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

std::uint64_t stream_hash(std::string_view name) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

std::array<std::uint32_t, 2> stream_key(std::uint64_t seed, std::string_view name) noexcept {
  const std::uint64_t key = splitmix64(seed ^ splitmix64(stream_hash(name)));
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

std::uint32_t Stream::bits(std::uint64_t element, std::uint32_t step, std::uint32_t micro) const noexcept {
  return block_at(element / 4, step, micro, key_)[element % 4];
}

std::uint64_t Stream::bits64(std::uint64_t element, std::uint32_t step, std::uint32_t micro) const noexcept {
  const PhiloxBlock block = block_at(element / 2, step, micro, key_);
  return element % 2 == 0 ? join(block[0], block[1]) : join(block[2], block[3]);
}

double Stream::uniform(std::uint64_t element, std::uint32_t step, std::uint32_t micro) const noexcept {
  return static_cast<double>(bits64(element, step, micro) >> 11) * two_to_minus_53;
}

double Stream::normal(std::uint64_t element, std::uint32_t step, std::uint32_t micro) const noexcept {
  const PhiloxBlock block = block_at(element, step, micro, key_);
  const double u = static_cast<double>((join(block[0], block[1]) >> 11) + 1) * two_to_minus_53;  // (0, 1]
  const double v = static_cast<double>(join(block[2], block[3]) >> 11) * two_to_minus_53;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::uint64_t Stream::below(std::uint64_t n, std::uint64_t element, std::uint32_t step,
                            std::uint32_t micro) const noexcept {
  return static_cast<std::uint64_t>(Wide{bits64(element, step, micro)} * n >> 64);
}

std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t seed, std::uint64_t epoch) noexcept {
  if (n <= 1) return 0;
  int half = 1;  // bits of each half: the network permutes [0, 2^(2 half))
  while (half < 32 && (n - 1) >> (2 * half) != 0) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  const std::uint64_t key = splitmix64(seed ^ splitmix64(epoch ^ stream_hash("permuted")));
  std::uint64_t x = i;
  do {
    std::uint64_t left = x >> half, right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (splitmix64(splitmix64(right + key) + round) & mask);
      left = right;
      right = mixed;
    }
    x = left << half | right;
  } while (x >= n);  // walking the cycle of i comes back below n, at the latest at i itself
  return x;
}

std::uint64_t random_seed() {
  std::random_device device;
  return join(device(), device());
}

}  // namespace llmtool
