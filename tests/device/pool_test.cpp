// The block pool: size classes, reuse, addresses, and a long random run against a model that is plainly
// right.
#include "device/pool.h"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "device/counting_device.h"
#include "support/catch.h"

using namespace llmtool;

namespace {

DeviceCaps small_blocks(std::uint64_t block_bytes) {
  DeviceCaps caps;
  caps.block_bytes = block_bytes;
  return caps;
}

using Address = std::tuple<std::uint64_t, std::uint64_t>;  // block id, offset
Address address_of(const Allocation& a) { return {a.block->id, a.offset}; }

}  // namespace

TEST_CASE("pool: size classes hold what was asked and waste at most 12.5 %") {
  const std::uint64_t alignment = 256;
  std::uint64_t previous = 0;
  for (std::uint64_t bytes = 1; bytes < 300'000; bytes += 37) {
    const std::uint64_t size = BlockPool::size_class(bytes, alignment);
    REQUIRE(size >= bytes);
    REQUIRE(size % alignment == 0);
    REQUIRE(size >= previous);
    REQUIRE(BlockPool::size_class(size, alignment) == size);
    // Above the alignment's own rounding, one eighth is the most that is added.
    const std::uint64_t aligned = (bytes + alignment - 1) / alignment * alignment;
    REQUIRE(size - aligned <= aligned / 8);
    previous = size;
  }
  CHECK(BlockPool::size_class(0, 256) == 256);
  CHECK(BlockPool::size_class(1, 256) == 256);
  CHECK(BlockPool::size_class(257, 256) == 512);
  CHECK(BlockPool::size_class(2048, 256) == 2048);
  CHECK(BlockPool::size_class(4096, 256) == 4096);
  CHECK(BlockPool::size_class(4097, 256) == 4608);
  CHECK(BlockPool::size_class(std::uint64_t{1} << 32, 256) == std::uint64_t{1} << 32);
  CHECK(BlockPool::size_class((std::uint64_t{1} << 32) + 1, 256) == (std::uint64_t{9} << 29));
}

TEST_CASE("pool: lowest address first, reused at once, neighbours joined") {
  CountingDevice device(small_blocks(4096));
  BlockPool& pool = device.pool();
  const Allocation a = pool.take(1000), b = pool.take(1000), c = pool.take(1000);
  CHECK(address_of(a) == Address{1, 0});
  CHECK(address_of(b) == Address{1, 1024});
  CHECK(address_of(c) == Address{1, 2048});
  CHECK(a.bytes == 1024);

  pool.give(a);
  pool.give(c);
  const Allocation d = pool.take(512);  // fits both holes: the lower one
  CHECK(address_of(d) == Address{1, 0});
  pool.give(b);  // [512, 4096) is one hole again
  const Allocation e = pool.take(3584);
  CHECK(address_of(e) == Address{1, 512});
  CHECK(device.stats().blocks == 1);

  const Allocation f = pool.take(1);
  CHECK(address_of(f) == Address{2, 0});
  pool.give(e);
  const Allocation g = pool.take(1);  // the first block again, though the second has room
  CHECK(address_of(g) == Address{1, 512});
}

TEST_CASE("pool: counts bytes, peak and blocks; trims only what is wholly free") {
  CountingDevice device(small_blocks(4096));
  BlockPool& pool = device.pool();
  const Allocation a = pool.take(4096), b = pool.take(4096);
  const Allocation big = pool.take(100'000);
  CHECK(big.offset == 0);
  CHECK(big.block->bytes == big.bytes);  // larger than a usual block: one of its own
  CHECK(pool.bytes_in_use() == 8192 + big.bytes);
  CHECK(device.stats().blocks == 3);
  CHECK(device.stats().block_bytes == 8192 + big.bytes);
  pool.give(a);
  pool.give(big);
  CHECK(pool.bytes_in_use() == 4096);
  CHECK(pool.peak_bytes() == 8192 + big.bytes);
  pool.reset_peak();
  CHECK(pool.peak_bytes() == 4096);
  pool.trim();
  CHECK(device.stats().block_bytes == 4096);
  CHECK(device.stats().blocks == 3);
  pool.give(b);
  pool.give(Allocation{});  // nothing to give back
  CHECK(pool.bytes_in_use() == 0);
}

TEST_CASE("pool: settles for a smaller block when a usual one is not to be had") {
  DeviceCaps caps = small_blocks(1 << 20);
  caps.memory_bytes = 10'000;
  CountingDevice device(caps);
  const Allocation a = device.pool().take(8192);
  CHECK(a.block->bytes == 8192);
  try {
    device.pool().take(4096);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::world);
    CHECK(std::string(error.what()).find("4096") != std::string::npos);
  }
  device.pool().give(a);
  CHECK(address_of(device.pool().take(4096)) == Address{1, 0});
}

TEST_CASE("pool: equal requests give equal addresses, and stay apart as in a plain model") {
  struct Live {
    Allocation allocation;
    std::uint64_t asked;
  };
  const auto run = [](std::vector<Address>& addresses) {
    CountingDevice device(small_blocks(1 << 16));
    BlockPool& pool = device.pool();
    std::mt19937_64 random(7);
    std::vector<Live> live;
    std::uint64_t in_use = 0;
    for (int step = 0; step < 6000; ++step) {
      if (live.size() < 60 && (live.empty() || random() % 5 < 3)) {
        const std::uint64_t asked = random() % (random() % 8 == 0 ? 100'000 : 5000);
        const Allocation got = pool.take(asked);
        in_use += got.bytes;
        REQUIRE(got.bytes >= asked);
        REQUIRE(got.bytes == BlockPool::size_class(asked, 256));
        REQUIRE(got.offset + got.bytes <= got.block->bytes);
        REQUIRE(got.offset % 256 == 0);
        // Not over anything live, and no hole before it (in address order) would have held it.
        std::vector<std::pair<std::uint64_t, std::uint64_t>> before;
        for (const Live& l : live) {
          if (l.allocation.block != got.block) continue;
          REQUIRE((l.allocation.offset + l.allocation.bytes <= got.offset ||
                   got.offset + got.bytes <= l.allocation.offset));
          if (l.allocation.offset < got.offset) {
            before.emplace_back(l.allocation.offset, l.allocation.offset + l.allocation.bytes);
          }
        }
        std::sort(before.begin(), before.end());
        std::uint64_t end = 0;
        for (const auto& [first, last] : before) {
          REQUIRE(first - end < got.bytes);
          end = last;
        }
        REQUIRE(end == got.offset);
        live.push_back({got, asked});
        addresses.push_back(address_of(got));
      } else {
        const std::size_t i = random() % live.size();
        in_use -= live[i].allocation.bytes;
        pool.give(live[i].allocation);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      }
      REQUIRE(pool.bytes_in_use() == in_use);
    }
    for (const Live& l : live) pool.give(l.allocation);
    REQUIRE(pool.bytes_in_use() == 0);
    pool.trim();
    REQUIRE(device.stats().block_bytes == 0);
  };
  std::vector<Address> first, second;
  run(first);
  run(second);
  CHECK(first == second);
}
