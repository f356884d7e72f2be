// Cases of softmax and of the norms.
#include <algorithm>
#include <cmath>

#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

std::vector<float> scaled(std::vector<float> values, float by) {
  for (float& value : values) value *= by;
  return values;
}

void add_softmax(Cases& cases, std::uint32_t rows, std::uint32_t cols) {
  const std::size_t n = std::size_t{rows} * cols;
  const std::string what = cat(rows, "x", cols);
  const RowsParams p{rows, cols, 0};
  const auto x = uniform(n, n, -3, 3);
  cases.push_back(make_case<KernelId::softmax>(what, {floats(x), output(n)}, p));
  cases.push_back(make_case<KernelId::log_softmax>(what, {floats(x), output(n)}, p, 2e-6, 1e-6));
  // Logits up to 1000: the largest of a row alone counts, nothing overflows.
  const auto huge = scaled(x, 1000.0f / 3);
  cases.push_back(make_case<KernelId::softmax>(what + " huge", {floats(huge), output(n)}, p));
  cases.push_back(make_case<KernelId::log_softmax>(what + " huge", {floats(huge), output(n)}, p));
  cases.push_back(
      make_case<KernelId::softmax>(what + " equal", {floats(std::vector<float>(n, -1000)), output(n)}, p));

  // y of the backwards: rows of probabilities, and their logarithms.
  std::vector<float> y(n), log_y(n);
  for (std::uint32_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::uint32_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(x[r * cols + c]));
    for (std::uint32_t c = 0; c < cols; ++c) {
      log_y[r * cols + c] = static_cast<float>(static_cast<double>(x[r * cols + c]) - std::log(sum));
      y[r * cols + c] = std::exp(log_y[r * cols + c]);
    }
  }
  for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
    const RowsParams q{rows, cols, accumulate};
    const std::string with = cat(what, " accumulate ", accumulate);
    const auto dy = uniform(n, n + 1);
    cases.push_back(make_case<KernelId::softmax_backward>(
        with, {floats(y), floats(dy), result(n, accumulate)}, q, 2e-6, 1e-6));
    cases.push_back(make_case<KernelId::log_softmax_backward>(
        with, {floats(log_y), floats(dy), result(n, accumulate)}, q, 2e-6, 1e-6));
  }
}

NormParams norm(std::uint32_t rows, std::uint32_t cols, std::uint32_t accumulate, float eps = 1e-5f) {
  NormParams p{};
  p.rows = rows;
  p.cols = cols;
  p.eps = eps;
  p.accumulate = accumulate;
  return p;
}

/// (mean, 1/sqrt(var + eps)) of each row, or 1/sqrt(mean square + eps) alone, as the forward leaves them.
std::vector<float> stats_of(const std::vector<float>& x, const NormParams& p, bool centred) {
  std::vector<float> stats;
  for (std::size_t r = 0; r < p.rows; ++r) {
    double mean = 0, var = 0;
    for (std::size_t c = 0; c < p.cols; ++c) mean += static_cast<double>(x[r * p.cols + c]) / p.cols;
    if (!centred) mean = 0;
    for (std::size_t c = 0; c < p.cols; ++c) {
      const double d = static_cast<double>(x[r * p.cols + c]) - mean;
      var += d * d / p.cols;
    }
    if (centred) stats.push_back(static_cast<float>(mean));
    stats.push_back(static_cast<float>(1 / std::sqrt(var + static_cast<double>(p.eps))));
  }
  return stats;
}

void add_norms(Cases& cases, std::uint32_t rows, std::uint32_t cols) {
  const std::size_t n = std::size_t{rows} * cols;
  const std::string what = cat(rows, "x", cols);
  const auto x = uniform(n, n), gain = uniform(cols, n + 1, 0.5f, 1.5f), bias = uniform(cols, n + 2);
  const NormParams p = norm(rows, cols, 0);
  // With one column or two the result is a small difference of what it is made from.
  const double noise = cols <= 3 ? 1e-4 : 1e-6;
  cases.push_back(make_case<KernelId::layer_norm>(
      what, {floats(x), floats(gain), floats(bias), output(n), output(2 * std::size_t{rows})}, p, 2e-6,
      noise));
  cases.push_back(make_case<KernelId::layer_norm>(
      what + " without bias", {floats(x), floats(gain), absent(), output(n), output(2 * std::size_t{rows})},
      p, 2e-6, noise));
  cases.push_back(make_case<KernelId::rms_norm>(what, {floats(x), floats(gain), output(n), output(rows)}, p));

  const auto dy = uniform(n, n + 3);
  const auto stats = stats_of(x, p, true), rms = stats_of(x, p, false);
  for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
    const NormParams q = norm(rows, cols, accumulate);
    const std::string with = cat(what, " accumulate ", accumulate);
    float steepest = 0;
    for (const float s : stats) steepest = std::max(steepest, s);
    const double dx_noise = (cols <= 3 ? 2e-6 : 5e-7) * static_cast<double>(steepest);
    cases.push_back(make_case<KernelId::layer_norm_backward>(
        with, {floats(x), floats(gain), floats(stats), floats(dy), result(n, accumulate)}, q, 2e-6,
        dx_noise));
    cases.push_back(make_case<KernelId::layer_norm_backward_params>(
        with, {floats(x), floats(stats), floats(dy), result(cols, accumulate), result(cols, accumulate, 98)},
        q, 2e-6, cols <= 3 ? 1e-5 : 2e-6));
    cases.push_back(make_case<KernelId::layer_norm_backward_params>(
        with + " without bias", {floats(x), floats(stats), floats(dy), result(cols, accumulate), absent()}, q,
        2e-6, cols <= 3 ? 1e-5 : 2e-6));
    cases.push_back(make_case<KernelId::rms_norm_backward>(
        with, {floats(x), floats(gain), floats(rms), floats(dy), result(n, accumulate)}, q, 2e-6,
        5e-7 * static_cast<double>(*std::max_element(rms.begin(), rms.end()))));
    cases.push_back(make_case<KernelId::rms_norm_backward_params>(
        with, {floats(x), floats(rms), floats(dy), result(cols, accumulate)}, q, 2e-6, 2e-6));
  }
}

/// A large common offset, and rows that are constant: what a one-pass variance gets wrong.
void add_hard_norms(Cases& cases) {
  const std::uint32_t rows = 5, cols = 100;
  const NormParams p = norm(rows, cols, 0);
  auto far = uniform(rows * cols, 3);
  for (float& value : far) value += 1000;
  const std::vector<float> constant(rows * cols, 0.7f), zero(rows * cols, 0), gain(cols, 1);
  const auto tiny = scaled(uniform(rows * cols, 4), 1e-20f), large = scaled(uniform(rows * cols, 5), 1e15f);
  const auto add = [&](const char* what, const std::vector<float>& x, double noise) {
    cases.push_back(make_case<KernelId::layer_norm>(
        what, {floats(x), floats(gain), absent(), output(x.size()), output(2 * rows)}, p, 2e-6, noise));
    cases.push_back(make_case<KernelId::rms_norm>(
        what, {floats(x), floats(gain), output(x.size()), output(rows)}, p, 2e-6, noise * 0));
  };
  add("offset 1000", far, 1e-4);
  add("constant", constant, 1e-4);
  add("zero", zero, 0);
  add("tiny", tiny, 0);
  add("large", large, 0);
}

}  // namespace

void add_row_cases(Cases& cases) {
  for (const std::uint32_t cols : sizes()) {
    for (const std::uint32_t rows : {1u, 2u, 3u, 17u}) {
      add_softmax(cases, rows, cols);
      add_norms(cases, rows, cols);
    }
  }
  add_softmax(cases, 2, 1000);
  add_norms(cases, 2, 1000);
  add_norms(cases, 130, 48);
  add_hard_norms(cases);
}

}  // namespace llmtool::kernel_test
