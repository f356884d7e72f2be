// Cases of cross entropy and of dropout.
#include <algorithm>
#include <cmath>

#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

void add_cross_entropy(Cases& cases, std::uint32_t rows, std::uint32_t cols, float range) {
  const std::size_t n = std::size_t{rows} * cols;
  const auto logits = uniform(n, n, -range, range);
  for (const std::int32_t ignore : {-1, -100, 0}) {
    std::vector<std::int32_t> targets;
    for (std::uint32_t r = 0; r < rows; ++r) {
      targets.push_back(r % 3 == 1 ? ignore : static_cast<std::int32_t>(r * 7 % cols));
    }
    for (std::uint32_t write_grad = 0; write_grad < 2; ++write_grad) {
      CrossEntropyParams p{};
      p.rows = rows;
      p.cols = cols;
      p.ignore_index = ignore;
      p.write_grad = write_grad;
      // log-sum-exp minus a logit near it cancels.
      cases.push_back(make_case<KernelId::cross_entropy>(
          cat(rows, "x", cols, " within ", range, " ignore ", ignore, " gradient ", write_grad),
          {floats(logits), ids(targets), floats({0.125f}), output(rows)}, p, 2e-6,
          0.125 * 2e-7 * static_cast<double>(range)));
    }
  }
}

void add_dropout(Cases& cases) {
  StepParams step{};
  step.step = 12345;
  step.dropout_key0 = 0x9e3779b9;
  step.dropout_key1 = 0x243f6a88;
  for (const std::uint32_t per_sample : sizes()) {
    // Behind the last one the number of a draw's block no longer fits into 32 bits.
    const auto before_carry = static_cast<std::uint32_t>(
        std::min((std::uint64_t{1} << 34) / per_sample, std::uint64_t{0xFFFFFFF0}));
    for (const std::uint32_t sample0 : {0u, 3u, 3'000'000'000u, before_carry}) {
      for (const float rate : {0.0f, 0.1f, 0.5f, 0.999f}) {
        for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
          DropoutParams p{};
          p.n = per_sample * 3;
          p.per_sample = per_sample;
          p.sample0 = sample0;
          p.stream = 42 + per_sample;
          p.threshold = static_cast<std::uint32_t>(std::round(static_cast<double>(rate) * 4294967296.0));
          p.scale = 1 / (1 - rate);
          p.accumulate = accumulate;
          cases.push_back(make_case<KernelId::dropout>(
              cat("3 samples of ", per_sample, " from ", sample0, " rate ", rate, " accumulate ", accumulate),
              {floats(uniform(p.n, p.n)), words_of(step), result(p.n, accumulate)}, p, 1.5e-7));
        }
      }
    }
  }
}

}  // namespace

void add_loss_cases(Cases& cases) {
  for (const std::uint32_t cols : sizes()) {
    for (const std::uint32_t rows : {1u, 2u, 5u}) {
      add_cross_entropy(cases, rows, cols, 3);
      add_cross_entropy(cases, rows, cols, 1000);
    }
  }
  add_cross_entropy(cases, 7, 1031, 3);
  add_cross_entropy(cases, 70, 65, 3);
  add_dropout(cases);
}

}  // namespace llmtool::kernel_test
