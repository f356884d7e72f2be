// The pool: every chunk once, by any worker, again and again.
#include "base/threads.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

using namespace llmtool;

TEST_CASE("every chunk runs exactly once", "[threads]") {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const std::int64_t chunks : {0, 1, 2, 3, 7, 64, 1000}) {
      std::vector<int> hits(static_cast<std::size_t>(chunks));
      std::atomic<bool> worker_in_range{true};
      pool.parallel_for(chunks, [&](std::int64_t chunk, int worker) {
        ++hits[static_cast<std::size_t>(chunk)];  // no race: one thread per chunk
        if (worker < 0 || worker >= threads) worker_in_range = false;
      });
      CHECK(worker_in_range);
      for (const int hit : hits) REQUIRE(hit == 1);
    }
  }
}

TEST_CASE("many short loops, with and without time to fall asleep", "[threads]") {
  ThreadPool pool(3);
  std::vector<std::int64_t> values(4);
  std::int64_t expected = 0;
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(4,
                      [&](std::int64_t chunk, int) { values[static_cast<std::size_t>(chunk)] += chunk + 1; });
    ++expected;
    if (round % 200 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(values[i] == expected * static_cast<std::int64_t>(i + 1));
  }
}

TEST_CASE("loops of two callers follow each other", "[threads]") {
  ThreadPool pool(3);
  std::atomic<int> total{0};
  const auto caller = [&] {
    for (int i = 0; i < 200; ++i) pool.parallel_for(5, [&](std::int64_t, int) { ++total; });
  };
  std::thread other(caller);
  caller();
  other.join();
  CHECK(total == 2000);
}

TEST_CASE("pools come and go", "[threads]") {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(1 + i % 4);
    std::atomic<int> hits{0};
    if (i % 3 != 0) pool.parallel_for(i, [&](std::int64_t, int) { ++hits; });
    CHECK(hits == (i % 3 != 0 ? i : 0));
  }
}

TEST_CASE("a pool without threads is refused") {
  CHECK_THROWS_AS(ThreadPool(0), Error);
  CHECK_THROWS_AS(ThreadPool(-1), Error);
  CHECK_THROWS_AS(ThreadPool(1 << 20), Error);
}

TEST_CASE("available_cores is at least one and at most what the machine has") {
  CHECK(available_cores() >= 1);
  CHECK(available_cores() <= static_cast<int>(std::thread::hardware_concurrency()));
}
