// The split, the window sampler, the held-out windows.
#include "text/dataset.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/catch.h"
#include "text/eval_windows.h"
#include "text/helpers.h"
#include "text/sampler.h"

using namespace llmtool;
using test::contains;
using test::error_of;
using Ids = std::vector<std::int32_t>;

namespace {

Ids counting(std::int64_t n) {
  Ids ids(static_cast<std::size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

TEST_CASE("dataset: the last part is held out") {
  const TokenDataset all(counting(669), 0.0);
  CHECK(all.train().size() == 669);
  CHECK(all.val().empty());
  const TokenDataset tenth(counting(669), 0.1);
  CHECK(tenth.train().size() == 602);
  CHECK(tenth.val().size() == 67);
  CHECK(tenth.val()[0] == 602);
  const TokenDataset separate(counting(5), counting(3));
  CHECK(separate.train().size() == 5);
  CHECK(separate.val().size() == 3);
  CHECK(val_tokens_of(10, 0.3) == 3);
  CHECK(val_tokens_of(10, 0.9) == 9);
  CHECK(val_tokens_of(1000, 0.007) == 7);
  CHECK(val_tokens_of(1, 0.5) == 1);
  CHECK(val_tokens_of(0, 0.5) == 0);
}

TEST_CASE("dataset: too short for a window names both numbers") {
  const std::string e = error_of([] { TokenDataset(counting(20), 0.0).require_window(32); });
  CHECK(contains(e, "world: "));
  CHECK(contains(e, "20 tokens"));
  CHECK(contains(e, "33"));
  CHECK(contains(error_of([] { TokenDataset(TokenView(), 0.0).require_window(32); }), "no tokens"));
  CHECK(contains(error_of([] { TokenDataset(counting(100), 0.001).require_window(32); }), "1 token"));
  CHECK(error_of([] { TokenDataset(counting(33), 0.0).require_window(32); }).empty());
}

TEST_CASE("random sampling: 700 tokens and block 32 have 668 starts, all of them used") {
  const Ids tokens = counting(700);
  const WindowSampler sampler(tokens, 32, 8, 1, Sampling::random, 42);
  CHECK(sampler.windows() == 668);
  std::set<std::int64_t> starts;
  for (std::int64_t step = 0; step < 2000; ++step) {
    for (std::int64_t i = 0; i < 8; ++i) starts.insert(sampler.start(step, i));
  }
  CHECK(starts.size() == 668);
  CHECK(*starts.begin() == 0);
  CHECK(*starts.rbegin() == 667);
}

TEST_CASE("a batch holds inputs and the tokens that follow them") {
  const Ids tokens = counting(50);
  const WindowSampler sampler(tokens, 4, 3, 1, Sampling::random, 1);
  const Batch b = sampler.batch(7, 0);
  CHECK(b.batch == 3);
  CHECK(b.block == 4);
  CHECK(b.counted == 12);
  REQUIRE(b.inputs.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(b.targets[i] == b.inputs[i] + 1);
  CHECK(b.inputs[4] == sampler.start(7, 1));
  CHECK(b == sampler.batch(7, 0));
  CHECK_FALSE(b == sampler.batch(8, 0));
}

TEST_CASE("micro-batches are the parts of the larger batch") {
  const Ids tokens = counting(500);
  for (const Sampling sampling : {Sampling::random, Sampling::epoch, Sampling::sequential}) {
    const WindowSampler large(tokens, 8, 6, 1, sampling, 3), small(tokens, 8, 2, 3, sampling, 3);
    for (std::int64_t step = 0; step < 20; ++step) {
      Ids joined;
      for (std::int64_t micro = 0; micro < 3; ++micro) {
        const Batch b = small.batch(step, micro);
        joined.insert(joined.end(), b.inputs.begin(), b.inputs.end());
      }
      CHECK(joined == large.batch(step, 0).inputs);
    }
  }
}

TEST_CASE("epoch sampling: each window once per pass, in another order each pass") {
  const Ids tokens = counting(101);  // 10 windows of 10
  const WindowSampler sampler(tokens, 10, 5, 1, Sampling::epoch, 9);
  CHECK(sampler.windows() == 10);
  std::vector<std::vector<std::int64_t>> passes;
  for (std::int64_t pass = 0; pass < 4; ++pass) {
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < 10; ++i) starts.push_back(sampler.start(2 * pass + i / 5, i % 5));
    passes.push_back(starts);
    std::sort(starts.begin(), starts.end());
    for (std::size_t i = 0; i < 10; ++i) CHECK(starts[i] == static_cast<std::int64_t>(10 * i));
  }
  CHECK(std::set<std::vector<std::int64_t>>(passes.begin(), passes.end()).size() > 1);
}

TEST_CASE("sequential sampling: in order, wrapping") {
  const Ids tokens = counting(31);  // 3 windows of 10
  const WindowSampler sampler(tokens, 10, 2, 1, Sampling::sequential, 0);
  std::vector<std::int64_t> starts;
  for (std::int64_t step = 0; step < 3; ++step) {
    for (std::int64_t i = 0; i < 2; ++i) starts.push_back(sampler.start(step, i));
  }
  CHECK(starts == std::vector<std::int64_t>{0, 10, 20, 0, 10, 20});
}

TEST_CASE("one window is enough for every kind of sampling") {
  const Ids tokens = counting(9);
  for (const char* name : {"random", "epoch", "sequential"}) {
    const WindowSampler sampler(tokens, 8, 2, 1, sampling_of(name), 5);
    CHECK(sampler.windows() == 1);
    CHECK(sampler.batch(3, 0).targets[7] == 8);
  }
  CHECK(contains(error_of([] { sampling_of("shuffle"); }), "request: "));
}

TEST_CASE("held-out windows predict every token but the first exactly once") {
  for (const std::int64_t n : {0, 1, 2, 5, 8, 9, 10, 16, 17, 18, 100}) {
    for (const std::int64_t block : {1, 3, 8}) {
      for (std::int64_t stride = 0; stride <= block; ++stride) {
        const Ids tokens = counting(n);
        const EvalWindows windows(tokens, block, 3, 0, stride);
        std::vector<int> seen(static_cast<std::size_t>(n), 0);
        std::int64_t counted = 0;
        for (std::int64_t i = 0; i < windows.batches(); ++i) {
          const Batch b = windows.batch(i);
          REQUIRE(std::ssize(b.targets) == 3 * block);
          counted += b.counted;
          for (std::size_t k = 0; k < b.targets.size(); ++k) {
            if (b.targets[k] == ignore_index) continue;
            ++seen[static_cast<std::size_t>(b.targets[k])];
            CHECK(b.inputs[k] == b.targets[k] - 1);
          }
        }
        INFO("n " << n << " block " << block << " stride " << stride);
        CHECK(counted == std::max<std::int64_t>(n - 1, 0));
        CHECK(windows.counted() == counted);
        for (std::size_t k = 0; k < seen.size(); ++k) CHECK(seen[k] == (k == 0 ? 0 : 1));
      }
    }
  }
}

TEST_CASE("held-out windows: the last is padded, a limit spreads them evenly") {
  const Ids tokens = counting(13);
  const EvalWindows all(tokens, 8, 2);
  REQUIRE(all.batches() == 1);
  const Batch b = all.batch(0);
  CHECK(b.inputs == Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0});
  CHECK(b.targets == Ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -100, -100, -100, -100});

  const Ids many = counting(1001);  // 100 windows of 10
  const EvalWindows few(many, 10, 4, 5);
  CHECK(few.batches() == 5);
  CHECK(few.counted() == 200);
  CHECK(few.batch(0).inputs[10] == 50);
  CHECK(few.batch(4).inputs[30] == 950);
  CHECK(EvalWindows(many, 10, 4, 1000).counted() == 1000);
}
