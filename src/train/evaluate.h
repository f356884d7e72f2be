// The loss of a model over held-out text. Not here: which text, and what is printed of it.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "model/gpt.h"
#include "text/eval_windows.h"
#include "text/tokenizer.h"

namespace llmtool {

struct Evaluation {
  double loss = 0;          ///< Mean negative log-likelihood per predicted token, in nats.
  std::int64_t tokens = 0;  ///< Predicted tokens.
  std::uint64_t bytes = 0;  ///< Bytes that these tokens stand for.
  double perplexity() const noexcept { return std::exp(loss); }
  double bits_per_byte() const noexcept {
    return bytes == 0 ? 0
                      : loss * static_cast<double>(tokens) / (std::numbers::ln2 * static_cast<double>(bytes));
  }
};

class Evaluator {
 public:
  Evaluator(GPT& model, const Tokenizer& tokenizer);
  /// Over all batches of `windows`, with dropout off; the model is left in the mode it was in. Throws
  /// Interrupted at a signal if it may: in the middle of a run the loop, which saves first, sees to it.
  Evaluation operator()(const EvalWindows& windows, bool interruptible = true);

 private:
  GPT& model_;
  std::vector<std::uint32_t> lengths_;
  ops::Index ids_;
  ops::Targets targets_;
};

}  // namespace llmtool
