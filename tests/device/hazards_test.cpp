// Hazards: which commands must keep their order, and that keeping it is enough.
#include "device/hazards.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "support/catch.h"

using namespace llmtool;

namespace {

Touch reads(std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
  return {block, begin, end, false};
}
Touch writes(std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
  return {block, begin, end, true};
}

bool clash(const Touch& a, const Touch& b) { return conflict(std::span(&a, 1), std::span(&b, 1)); }

}  // namespace

TEST_CASE("hazards: every pair of accesses") {
  CHECK(clash(writes(1, 0, 8), reads(1, 0, 8)));   // read after write
  CHECK(clash(reads(1, 0, 8), writes(1, 0, 8)));   // write after read
  CHECK(clash(writes(1, 0, 8), writes(1, 0, 8)));  // write after write
  CHECK_FALSE(clash(reads(1, 0, 8), reads(1, 0, 8)));
}

TEST_CASE("hazards: ranges and blocks") {
  CHECK(clash(writes(1, 0, 8), reads(1, 4, 12)));
  CHECK(clash(writes(1, 4, 12), reads(1, 0, 8)));
  CHECK(clash(writes(1, 0, 100), reads(1, 40, 44)));
  CHECK(clash(writes(1, 40, 44), reads(1, 0, 100)));
  CHECK_FALSE(clash(writes(1, 0, 8), reads(1, 8, 16)));
  CHECK_FALSE(clash(writes(1, 8, 16), reads(1, 0, 8)));
  CHECK_FALSE(clash(writes(1, 0, 8), writes(2, 0, 8)));
  CHECK_FALSE(clash(writes(1, 4, 4), writes(1, 0, 8)));  // touches nothing
}

TEST_CASE("hazards: touches of a launch follow kernels.def, without what was left out") {
  Block a{1, 1024, nullptr}, b{2, 1024, nullptr};
  const View left{&a, 0, 64}, right{&a, 64, 64}, pre{}, c{&b, 128, 256};
  const std::vector<View> views{left, right, View{}, pre, c};
  const auto touches = touches_of(KernelId::matmul, views);
  REQUIRE(touches.size() == 3);
  CHECK((touches[0].block == 1 && touches[0].begin == 0 && touches[0].end == 64 && !touches[0].writes));
  CHECK((touches[1].block == 1 && touches[1].begin == 64 && touches[1].end == 128 && !touches[1].writes));
  CHECK((touches[2].block == 2 && touches[2].begin == 128 && touches[2].end == 384 && touches[2].writes));

  const std::vector<View> all{left, right, left, right, c};
  const auto with_pre = touches_of(KernelId::matmul, all);
  REQUIRE(with_pre.size() == 5);
  CHECK_FALSE(with_pre[2].writes);
  CHECK(with_pre[3].writes);

  // Updates count as writes.
  const std::vector<View> scatter{left, right, c};
  CHECK(touches_of(KernelId::scatter_rows, scatter)[2].writes);
}

TEST_CASE("hazards: the tracker places a barrier only where one is missing") {
  HazardTracker tracker;
  const auto record = [&](std::vector<Touch> touches) { return tracker.record(touches); };
  CHECK_FALSE(record({writes(1, 0, 8)}));
  CHECK_FALSE(record({writes(1, 8, 16)}));
  CHECK(record({reads(1, 0, 16), writes(2, 0, 16)}));
  CHECK_FALSE(record({reads(1, 0, 8), writes(3, 0, 8)}));  // the barrier covered this one too
  CHECK(record({writes(1, 0, 4)}));                        // write after read
  CHECK_FALSE(record({reads(2, 0, 16)}));                  // written before that barrier
  CHECK(record({writes(1, 0, 4)}));                        // write after write
  tracker.clear();
  CHECK_FALSE(record({writes(1, 0, 4)}));
}

namespace {

/// A machine of words: each command mixes what it reads into what it writes.
struct Toy {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(48, 1);
  void run(std::size_t command, const std::vector<Touch>& touches) {
    std::uint64_t hash = command + 1;
    for (const Touch& t : touches) {
      if (t.writes) continue;
      for (std::uint64_t w = t.begin; w < t.end; ++w) hash = hash * 6364136223846793005u + words[at(t, w)];
    }
    for (const Touch& t : touches) {
      if (!t.writes) continue;
      for (std::uint64_t w = t.begin; w < t.end; ++w) words[at(t, w)] = words[at(t, w)] * 31 + hash + w;
    }
  }
  static std::size_t at(const Touch& t, std::uint64_t w) { return (t.block - 1) * 16 + w; }
};

}  // namespace

TEST_CASE("hazards: any order within barriers gives the same result") {
  std::mt19937_64 random(11);
  int barriers = 0;
  for (int plan = 0; plan < 300; ++plan) {
    std::vector<std::vector<Touch>> commands(2 + random() % 30);
    for (auto& touches : commands) {
      const auto count = 1 + random() % 3;
      for (std::uint64_t t = 0; t < count; ++t) {
        const std::uint64_t begin = random() % 16;
        touches.push_back({1 + random() % 3, begin, std::min<std::uint64_t>(16, begin + 1 + random() % 4),
                           random() % 3 == 0});
      }
    }
    Toy straight;
    for (std::size_t c = 0; c < commands.size(); ++c) straight.run(c, commands[c]);

    HazardTracker tracker;
    std::vector<std::vector<std::size_t>> groups(1);
    for (std::size_t c = 0; c < commands.size(); ++c) {
      if (tracker.record(commands[c])) {
        groups.emplace_back();
        ++barriers;
      }
      groups.back().push_back(c);
    }
    Toy shuffled;
    for (auto& group : groups) {
      std::shuffle(group.begin(), group.end(), random);
      for (const std::size_t c : group) shuffled.run(c, commands[c]);
    }
    REQUIRE(shuffled.words == straight.words);
  }
  CHECK(barriers > 300);
}
