// The learning rate of a step.
#include <cmath>

#include "optim/optimizer.h"
#include "support/catch.h"

namespace llmtool {
namespace {

/// The rate that the n-th step (counted from 1, as log lines do) uses.
double rate(std::int64_t n) { return warmup_cosine(n - 1, 50, 600, 3e-3, 3e-4); }

TEST_CASE("warm-up, then a cosine", "[schedule]") {
  CHECK(rate(10) == Approx(0.0006));
  CHECK(rate(20) == Approx(0.0012));
  CHECK(rate(30) == Approx(0.0018));
  CHECK(rate(40) == Approx(0.0024));
  CHECK(rate(50) == Approx(0.0030));
  CHECK(rate(51) == Approx(0.0030));
  const double expected[] = {0.002947, 0.002540, 0.001850, 0.001096, 0.000518, 0.000300};
  for (int i = 0; i < 6; ++i) CHECK(std::abs(rate(100 * (i + 1)) - expected[i]) < 5.1e-7);
  CHECK(warmup_cosine(600, 50, 600, 3e-3, 3e-4) == Approx(3e-4));
}

TEST_CASE("the schedule is finite at its edges", "[schedule]") {
  for (const std::int64_t steps : {1, 2, 10}) {
    for (const std::int64_t warmup : {0, 1, 5, 10, 50}) {
      for (std::int64_t i = 0; i <= steps; ++i) {
        const double lr = warmup_cosine(i, warmup, steps, 1.0, 0.1);
        CHECK(std::isfinite(lr));
        CHECK(lr > 0);
        CHECK(lr <= 1);
      }
    }
  }
  CHECK(warmup_cosine(0, 0, 1, 1.0, 0.1) == 1.0);
}

}  // namespace
}  // namespace llmtool
