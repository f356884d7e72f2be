// The filters of sampling, in double, on the host.
#include "generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace llmtool {
namespace {

void require(bool good, const char* flag, double value, const char* wanted) {
  if (!good) throw request_error(cat(flag, " ", value, " is out of range: ", wanted));
}

using Scored = std::pair<std::int32_t, double>;

/// Most probable first; equal ones by id, so that the order is total and the result does not depend on the
/// sort.
bool before(const Scored& a, const Scored& b) {
  return a.second != b.second ? a.second > b.second : a.first < b.first;
}

/// The logits in double, with what the context repeats made less likely: positive ones divided by the
/// penalty, negative ones multiplied, once per distinct token (Keskar et al., "CTRL", 2019, in its common
/// form).
std::vector<Scored> penalised(std::span<const float> logits, double penalty,
                              std::span<const std::int32_t> context) {
  std::vector<Scored> scored(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    scored[i] = {static_cast<std::int32_t>(i), static_cast<double>(logits[i])};
  if (penalty == 1.0) return scored;
  std::vector<bool> seen(logits.size(), false);
  for (const std::int32_t id : context) {
    LLMTOOL_CHECK(id >= 0 && std::cmp_less(id, logits.size()), "id ", id, " of ", logits.size());
    const auto i = static_cast<std::size_t>(id);
    if (seen[i]) continue;
    seen[i] = true;
    double& score = scored[i].second;
    score = score > 0 ? score / penalty : score * penalty;
  }
  return scored;
}

void require_finite(std::span<const float> logits) {
  LLMTOOL_CHECK(!logits.empty(), "no logits");
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!std::isfinite(logits[i])) {
      throw world_error(cat("the model gives ", logits[i], " as the logit of token ", i,
                            ": its weights are damaged or its training diverged"));
    }
  }
}

/// Scores to probabilities that sum to 1; the first is the largest.
void softmax_in_place(std::vector<Scored>& scored) {
  const double largest = scored.front().second;
  double sum = 0;
  for (auto& [id, score] : scored) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (auto& entry : scored) entry.second /= sum;
}

}  // namespace

void check(const SamplingOptions& o) {
  require(std::isfinite(o.temperature) && o.temperature >= 0, "--temperature", o.temperature,
          "a finite number of at least 0 (0 is greedy)");
  if (o.top_k < 0) throw request_error(cat("--top-k ", o.top_k, " is out of range: at least 0 (0 is off)"));
  require(o.top_p >= 0 && o.top_p <= 1, "--top-p", o.top_p, "0 to 1 (1 is off)");
  require(o.min_p >= 0 && o.min_p <= 1, "--min-p", o.min_p, "0 to 1 (0 is off)");
  require(std::isfinite(o.repetition_penalty) && o.repetition_penalty > 0, "--repetition-penalty",
          o.repetition_penalty, "a finite number above 0 (1 is off)");
}

std::vector<std::pair<std::int32_t, double>> filtered_distribution(std::span<const float> logits,
                                                                   const SamplingOptions& options,
                                                                   std::span<const std::int32_t> context) {
  require_finite(logits);
  std::vector<Scored> scored = penalised(logits, options.repetition_penalty, context);

  if (options.temperature == 0) {
    const auto best = std::min_element(scored.begin(), scored.end(), before);
    return {{best->first, 1.0}};
  }

  // Top-k: the order of the scores is that of the probabilities, so the rest need not be sorted.
  std::size_t keep = scored.size();
  if (options.top_k > 0 && std::cmp_less(options.top_k, keep)) keep = static_cast<std::size_t>(options.top_k);
  const auto end = scored.begin() + static_cast<std::ptrdiff_t>(keep);
  if (keep < scored.size()) std::nth_element(scored.begin(), end, scored.end(), before);
  std::sort(scored.begin(), end, before);
  scored.resize(keep);

  // A difference is divided, not the score itself: a tiny temperature cannot make infinity minus infinity.
  const double largest = scored.front().second;
  for (auto& entry : scored) entry.second = (entry.second - largest) / options.temperature;
  softmax_in_place(scored);

  if (options.top_p < 1) {
    double sum = 0;
    std::size_t kept = 0;
    while (kept < scored.size()) {
      sum += scored[kept++].second;
      if (sum >= options.top_p) break;  // the one that crosses is included
    }
    scored.resize(kept);
  }
  if (options.min_p > 0) {
    // Relative to the most probable token, so renormalising before or after makes no difference.
    const double least = options.min_p * scored.front().second;
    std::size_t kept = 1;
    while (kept < scored.size() && scored[kept].second >= least) ++kept;
    scored.resize(kept);
  }
  double sum = 0;
  for (const auto& entry : scored) sum += entry.second;
  for (auto& entry : scored) entry.second /= sum;
  return scored;
}

std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          std::span<const std::int32_t> context, double u) {
  const auto distribution = filtered_distribution(logits, options, context);
  double sum = 0;
  for (const auto& [id, probability] : distribution) {
    sum += probability;
    if (u < sum) return id;
  }
  return distribution.back().first;  // rounding left the sum a little below 1
}

}  // namespace llmtool
