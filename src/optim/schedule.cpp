// The learning rate of a step; declared in optimizer.h.
#include <cmath>
#include <numbers>

#include "optim/optimizer.h"

namespace llmtool {

double warmup_cosine(std::int64_t i, std::int64_t warmup, std::int64_t steps, double max_lr,
                     double min_lr) noexcept {
  if (i < warmup) return max_lr * static_cast<double>(i + 1) / static_cast<double>(warmup);
  if (i >= steps) return min_lr;
  const double progress = static_cast<double>(i - warmup) / static_cast<double>(steps - warmup);
  return min_lr + 0.5 * (max_lr - min_lr) * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace llmtool
