// Philox against its published answers, and the draws made from it.
#include "base/rng.h"

#include <cmath>
#include <set>
#include <vector>

#include "support/catch.h"

using namespace llmtool;

TEST_CASE("philox gives the published blocks") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t f = 0xffffffff;
  CHECK(philox({f, f, f, f}, {f, f}) == PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("a stream is a function of seed, name, step, micro-batch and element") {
  const auto key = stream_key(42, "dropout");
  CHECK(key != stream_key(43, "dropout"));
  CHECK(key != stream_key(42, "init"));
  const Stream s(42, "dropout");
  CHECK(s.bits(6, 9, 7) == philox({1, 0, 7, 9}, key)[2]);
  const std::uint64_t far = (std::uint64_t{1} << 34) + 5;
  CHECK(s.bits(far) == philox({1, 1, 0, 0}, key)[1]);
  const PhiloxBlock block = philox({3, 0, 0, 0}, key);
  CHECK(s.bits64(6) == (std::uint64_t{block[1]} << 32 | block[0]));
  CHECK(s.bits64(7) == (std::uint64_t{block[3]} << 32 | block[2]));
  CHECK(s.uniform(7) == std::ldexp(static_cast<double>(s.bits64(7) >> 11), -53));
}

TEST_CASE("FNV-1a gives the published hashes") {
  CHECK(stream_hash("") == 0xcbf29ce484222325u);
  CHECK(stream_hash("a") == 0xaf63dc4c8601ec8cu);
  CHECK(stream_hash("foobar") == 0x85944171f73967e8u);
}

TEST_CASE("uniform and normal draws have the moments of their distributions") {
  const Stream s(1, "moments");
  const int n = 100000;
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double u = s.uniform(static_cast<std::uint64_t>(i));
    REQUIRE((u >= 0 && u < 1));
    sum += u;
    squares += u * u;
    const double z = s.normal(static_cast<std::uint64_t>(i), 1);
    REQUIRE(std::isfinite(z));
    normal_sum += z;
    normal_squares += z * z;
    normal_fourth += z * z * z * z;
  }
  CHECK(sum / n == Approx(0.5).margin(0.005));
  CHECK(squares / n == Approx(1.0 / 3).margin(0.005));
  CHECK(normal_sum / n == Approx(0.0).margin(0.015));
  CHECK(normal_squares / n == Approx(1.0).margin(0.02));
  CHECK(normal_fourth / n == Approx(3.0).margin(0.15));
}

TEST_CASE("below covers its range evenly") {
  const Stream s(3, "below");
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 70000; ++i) ++counts[s.below(7, i)];
  for (const int count : counts) CHECK(count == Approx(10000).margin(500));
  CHECK(s.below(1, 5) == 0);
  const std::uint64_t huge = ~std::uint64_t{0};
  CHECK(s.below(huge, 5) < huge);
}

TEST_CASE("permuted is a permutation for every size, and differs by epoch and seed") {
  for (std::uint64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 668, 1000}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t p = permuted(i, n, 42, 0);
      REQUIRE(p < n);
      seen.insert(p);
    }
    CHECK(seen.size() == n);
  }
  int fixed_points = 0, same_epoch = 0, same_seed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    fixed_points += permuted(i, 1000, 42, 0) == i;
    same_epoch += permuted(i, 1000, 42, 0) == permuted(i, 1000, 42, 1);
    same_seed += permuted(i, 1000, 42, 0) == permuted(i, 1000, 43, 0);
  }
  CHECK(fixed_points < 10);
  CHECK(same_epoch < 10);
  CHECK(same_seed < 10);
  const std::uint64_t huge = ~std::uint64_t{0};
  CHECK(permuted(huge - 1, huge, 1, 2) < huge);
}
