// The background thread: the same batches with it or without, exceptions carried over, a clean end.
#include "text/batch_loader.h"

#include <atomic>
#include <stdexcept>

#include "support/catch.h"
#include "text/sampler.h"

using namespace llmtool;

TEST_CASE("batch loader: the same batches with the thread on or off", "[threads]") {
  std::vector<std::int32_t> tokens(1000);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 7 % 101);
  const WindowSampler sampler(tokens, 16, 4, 2, Sampling::random, 11);
  const auto make = [&](std::int64_t index) { return sampler.batch(index / 2, index % 2); };
  BatchLoader on(make, 3, 103, true, 2), off(make, 3, 103, false);
  for (int i = 0; i < 100; ++i) CHECK(on.next() == off.next());
}

TEST_CASE("batch loader: no more than asked for is made ahead", "[threads]") {
  std::atomic<std::int64_t> made = 0;
  std::atomic<std::int64_t> used = 0;
  std::atomic<bool> too_far = false;
  {
    BatchLoader loader(
        [&](std::int64_t index) {
          // `ahead` lie ready at most, and one is being handed over.
          if (index > used.load() + 3) too_far = true;
          ++made;
          return Batch{};
        },
        0, 1000, true, 2);
    for (int i = 0; i < 200; ++i) {
      loader.next();
      ++used;
    }
  }
  CHECK_FALSE(too_far.load());
  CHECK(made.load() <= 203);
}

TEST_CASE("batch loader: an exception comes at the batch it belongs to", "[threads]") {
  const auto make = [](std::int64_t index) {
    if (index == 5) throw std::runtime_error("batch five");
    Batch b;
    b.counted = index;
    return b;
  };
  for (const bool background : {true, false}) {
    BatchLoader loader(make, 0, 100, background);
    for (std::int64_t i = 0; i < 5; ++i) CHECK(loader.next().counted == i);
    CHECK_THROWS_WITH(loader.next(), "batch five");
    CHECK_THROWS_WITH(loader.next(), "batch five");
  }
}

TEST_CASE("batch loader: ends cleanly unused, half used and used up", "[threads]") {
  const auto make = [](std::int64_t) { return Batch{}; };
  for (int round = 0; round < 50; ++round) {
    { BatchLoader unused(make, 0, 1000); }
    BatchLoader half(make, 0, 1000, true, 1);
    half.next();
    BatchLoader full(make, 0, 3);
    for (int i = 0; i < 3; ++i) full.next();
    BatchLoader none(make, 4, 4);
  }
  SUCCEED();
}
