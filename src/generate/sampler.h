// From logits to the next token: penalty, temperature, top-k, top-p, min-p, in this order, then one draw. On
// the host, in double, so that it is the same everywhere. Not here: the model.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmtool {

struct SamplingOptions {
  double temperature = 0.8;  ///< 0: greedy, the lowest id on ties.
  std::int64_t top_k = 10;   ///< 0: off; above the vocabulary: all.
  double top_p = 0.9;        ///< 1: off. At least one token is kept, the one that crosses included.
  double min_p = 0.0;
  double repetition_penalty = 1.0;
};

/// request_error naming the flag for a value out of range (temperature below 0 or not finite, top_p outside
/// [0,1], ...).
void check(const SamplingOptions& options);

/// (id, probability) of the tokens that survive the filters, most probable first (ties by id); probabilities
/// sum to 1.
std::vector<std::pair<std::int32_t, double>> filtered_distribution(std::span<const float> logits,
                                                                   const SamplingOptions& options,
                                                                   std::span<const std::int32_t> context);
/// The token at `u` in [0, 1) of that distribution.
std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          std::span<const std::int32_t> context, double u);

}  // namespace llmtool
