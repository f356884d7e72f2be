// A batch of windows, as it goes to the model.
#pragma once
#include <cstdint>
#include <vector>

namespace llmtool {

/// A target that is not counted in the loss.
inline constexpr std::int32_t ignore_index = -100;

/// inputs and targets are [batch, block], row-major: targets[b, t] is the token that follows inputs[b, t].
struct Batch {
  std::int64_t batch = 0;
  std::int64_t block = 0;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> targets;  ///< ignore_index where nothing is to be predicted.
  std::int64_t counted = 0;           ///< Targets that are not ignore_index.

  bool operator==(const Batch&) const = default;
};

}  // namespace llmtool
