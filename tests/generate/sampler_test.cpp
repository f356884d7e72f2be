// The filters one by one, the draw, and what is refused.
#include "generate/sampler.h"

#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"

using namespace llmtool;

namespace {

const std::vector<float> logits = {1.0f, 2.0f, 0.5f, 0.1f};

SamplingOptions plain() {
  SamplingOptions o;
  o.temperature = 1;
  o.top_k = 0;
  o.top_p = 1;
  return o;
}

std::vector<std::int32_t> ids_of(const SamplingOptions& o, const std::vector<std::int32_t>& context = {}) {
  std::vector<std::int32_t> ids;
  for (const auto& entry : filtered_distribution(logits, o, context)) ids.push_back(entry.first);
  return ids;
}

}  // namespace

TEST_CASE("without filters the distribution is the softmax, most probable first") {
  const auto d = filtered_distribution(logits, plain(), {});
  REQUIRE(d.size() == 4);
  CHECK(d[0].first == 1);
  CHECK(d[0].second == Approx(0.57).margin(0.005));
  CHECK(d[1].first == 0);
  CHECK(d[1].second == Approx(0.21).margin(0.005));
  CHECK(d[2].first == 2);
  CHECK(d[2].second == Approx(0.13).margin(0.005));
  CHECK(d[3].first == 3);
  CHECK(d[3].second == Approx(0.09).margin(0.005));
}

TEST_CASE("top-p keeps the token that crosses, and always one") {
  auto o = plain();
  o.top_p = 0.9;
  CHECK(ids_of(o) == std::vector<std::int32_t>{1, 0, 2});
  o.top_p = 0.5;
  CHECK(ids_of(o) == std::vector<std::int32_t>{1});
  o.top_p = 0;
  CHECK(ids_of(o) == std::vector<std::int32_t>{1});
}

TEST_CASE("top-k one is greedy, zero and more than there are keep all") {
  auto o = plain();
  o.top_k = 1;
  CHECK(ids_of(o) == std::vector<std::int32_t>{1});
  o.top_k = 2;
  const auto d = filtered_distribution(logits, o, {});
  REQUIRE(d.size() == 2);
  CHECK(d[0].second == Approx(1 / (1 + std::exp(-1.0))));
  o.top_k = 0;
  CHECK(ids_of(o).size() == 4);
  o.top_k = 1000;
  CHECK(ids_of(o).size() == 4);
}

TEST_CASE("min-p is relative to the most probable token") {
  auto o = plain();
  o.min_p = 0.3;  // e^-1 = 0.37 stays, e^-1.5 = 0.22 goes
  CHECK(ids_of(o) == std::vector<std::int32_t>{1, 0});
  o.min_p = 1;
  CHECK(ids_of(o) == std::vector<std::int32_t>{1});
}

TEST_CASE("temperature zero takes the lowest id of equals; tiny and huge temperatures are finite") {
  auto o = plain();
  o.temperature = 0;
  const std::vector<float> ties = {0, 3, 3, 1};
  CHECK(sample_token(ties, o, {}, 0.999) == 1);
  o.temperature = 1e-300;
  const auto cold = filtered_distribution(logits, o, {});
  CHECK(cold[0] == std::pair<std::int32_t, double>{1, 1.0});
  o.temperature = 1e300;
  CHECK(filtered_distribution(logits, o, {})[0].second == Approx(0.25));
}

TEST_CASE("the repetition penalty divides positive logits, multiplies negative ones, once per token") {
  auto o = plain();
  o.repetition_penalty = 2;
  o.temperature = 1;
  const std::vector<float> signs = {2.0f, -1.0f, 0.0f};
  const std::vector<std::int32_t> context = {0, 1, 1, 0};
  const auto d = filtered_distribution(signs, o, context);
  // 1, -2, 0
  REQUIRE(d.size() == 3);
  CHECK(d[0].first == 0);
  CHECK(d[1].first == 2);
  CHECK(d[2].first == 1);
  CHECK(d[0].second / d[1].second == Approx(std::exp(1.0)));
  CHECK(d[1].second / d[2].second == Approx(std::exp(2.0)));
}

TEST_CASE("drawn frequencies match the probabilities") {
  const Stream stream(7, "sample");
  std::map<std::int32_t, int> counts;
  constexpr int n = 20000;
  for (int i = 0; i < n; ++i) {
    const double u = stream.uniform(static_cast<std::uint64_t>(i));
    ++counts[sample_token(logits, plain(), {}, u)];
  }
  for (const auto& [id, probability] : filtered_distribution(logits, plain(), {})) {
    const double deviation = std::sqrt(probability * (1 - probability) / n);
    CHECK(std::abs(counts[id] / static_cast<double>(n) - probability) < 4 * deviation);
  }
}

TEST_CASE("the ends of the draw take the first and the last token") {
  CHECK(sample_token(logits, plain(), {}, 0.0) == 1);
  CHECK(sample_token(logits, plain(), {}, 1.0 - 1e-16) == 3);
}

TEST_CASE("options out of range are request errors that name the flag") {
  const auto refused = [](auto change, const std::string& flag) {
    SamplingOptions o;
    change(o);
    try {
      check(o);
      FAIL("accepted " << flag);
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::request);
      CHECK(std::string(e.what()).find(flag) != std::string::npos);
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  refused([](auto& o) { o.temperature = -0.1; }, "--temperature");
  refused([&](auto& o) { o.temperature = nan; }, "--temperature");
  refused([&](auto& o) { o.temperature = inf; }, "--temperature");
  refused([](auto& o) { o.top_k = -1; }, "--top-k");
  refused([](auto& o) { o.top_p = 1.5; }, "--top-p");
  refused([&](auto& o) { o.top_p = nan; }, "--top-p");
  refused([](auto& o) { o.min_p = -1; }, "--min-p");
  refused([](auto& o) { o.repetition_penalty = 0; }, "--repetition-penalty");
  check(SamplingOptions{});
}

TEST_CASE("logits that are not finite are an error, not a token") {
  const std::vector<float> bad = {1.0f, std::numeric_limits<float>::quiet_NaN()};
  CHECK_THROWS_AS(sample_token(bad, plain(), {}, 0.5), Error);
}
