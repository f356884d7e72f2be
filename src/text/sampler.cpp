// WindowSampler.
#include "text/sampler.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"

namespace llmtool {

Sampling sampling_of(std::string_view name) {
  if (name == "random") return Sampling::random;
  if (name == "epoch") return Sampling::epoch;
  if (name == "sequential") return Sampling::sequential;
  throw request_error(cat("data.sampling '", printable(name), "' is not one of random, epoch, sequential"));
}

WindowSampler::WindowSampler(TokenView tokens, std::int64_t block_size, std::int64_t batch,
                             std::int64_t micro_batches, Sampling sampling, std::uint64_t seed)
    : tokens_(std::move(tokens)),
      block_(block_size),
      batch_(batch),
      micro_batches_(micro_batches),
      sampling_(sampling),
      seed_(seed) {
  LLMTOOL_CHECK(block_size > 0 && batch > 0 && micro_batches > 0);
  LLMTOOL_CHECK(tokens_.size() > block_size, "tokens ", tokens_.size(), " block ", block_size);
}

std::int64_t WindowSampler::windows() const noexcept {
  const std::int64_t n = tokens_.size();
  return sampling_ == Sampling::random ? n - block_ : (n - 1) / block_;
}

std::int64_t WindowSampler::start(std::int64_t step, std::int64_t sample) const noexcept {
  const auto count = static_cast<std::uint64_t>(windows());
  const auto s = static_cast<std::uint64_t>(step), e = static_cast<std::uint64_t>(sample);
  if (sampling_ == Sampling::random) {
    // The upper word of the step goes where micro-batches would: they are part of the sample's number here.
    return static_cast<std::int64_t>(
        Stream(seed_, "batch")
            .below(count, e, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32)));
  }
  const std::uint64_t number = s * static_cast<std::uint64_t>(batch_ * micro_batches_) + e;
  const std::uint64_t pass = number / count, place = number % count;
  const std::uint64_t window = sampling_ == Sampling::epoch ? permuted(place, count, seed_, pass) : place;
  return static_cast<std::int64_t>(window) * block_;
}

Batch WindowSampler::batch(std::int64_t step, std::int64_t micro) const {
  Batch out;
  out.batch = batch_;
  out.block = block_;
  out.counted = batch_ * block_;
  out.inputs.resize(static_cast<std::size_t>(out.counted));
  out.targets.resize(static_cast<std::size_t>(out.counted));
  std::vector<std::int32_t> window(static_cast<std::size_t>(block_) + 1);
  for (std::int64_t row = 0; row < batch_; ++row) {
    tokens_.copy(start(step, micro * batch_ + row), window);
    std::copy(window.begin(), window.end() - 1, out.inputs.begin() + row * block_);
    std::copy(window.begin() + 1, window.end(), out.targets.begin() + row * block_);
  }
  return out;
}

}  // namespace llmtool
