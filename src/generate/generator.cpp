// generate(): prompt, context rule, one token at a time with or without the cache.
#include "generate/generator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/rng.h"
#include "generate/text_stream.h"
#include "tensor/autograd.h"

namespace llmtool {
namespace {

/// Evaluation mode without gradients while generating; what was before comes back, a running training's too.
class EvaluationScope {
 public:
  explicit EvaluationScope(GPT& model) : model_(model), was_training_(model.training()) {
    if (was_training_) model_.eval();
  }
  ~EvaluationScope() {
    if (was_training_) model_.train();
  }
  EvaluationScope(const EvaluationScope&) = delete;
  EvaluationScope& operator=(const EvaluationScope&) = delete;

 private:
  GPT& model_;
  bool was_training_;
  NoGrad no_grad_;
};

/// The tokens that the model sees, kept to the context rule, and the logits of what follows them.
class Context {
 public:
  Context(GPT& model, std::vector<std::int32_t> tokens, bool cached)
      : model_(model),
        device_(model.named_parameters().front().parameter->tensor.device()),
        block_(static_cast<std::size_t>(model.config().block_size)),
        tokens_(std::move(tokens)),
        cached_(cached) {
    if (cached_) cache_ = model_.make_cache();
  }

  std::span<const std::int32_t> tokens() const noexcept { return tokens_; }

  void append(std::int32_t token) {
    if (tokens_.size() == block_) {
      const std::size_t dropped = std::max<std::size_t>(1, block_ / 4);
      tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(dropped));
      // Positions start from 0 again, so that nothing in the cache holds any more.
      evaluated_ = 0;
      cache_.clear();
    }
    tokens_.push_back(token);
  }

  /// Logits (V) after the last token.
  std::vector<float> next_logits() {
    const auto all = tokens();
    const auto fresh = cached_ ? all.subspan(evaluated_) : all;
    const ops::Index ids(device_, fresh, model_.vocab_size());
    const Tensor hidden = cached_ ? model_.forward_cached(ids, cache_) : model_.forward(ids, 1);
    evaluated_ = all.size();
    const std::int64_t width = model_.config().n_embd;
    const Tensor last = hidden.alias((std::ssize(fresh) - 1) * width, Shape{1, width});
    return model_.logits(last).to_host();
  }

 private:
  GPT& model_;
  Device& device_;
  std::size_t block_;
  std::vector<std::int32_t> tokens_;
  bool cached_;
  KvCache cache_;
  std::size_t evaluated_ = 0;  ///< Tokens that are in the cache.
};

/// What an empty prompt starts from.
std::int32_t start_token(const Tokenizer& tokenizer) {
  if (const auto eot = tokenizer.eot_id()) return *eot;
  std::vector<std::int32_t> ids;
  try {
    ids = tokenizer.encode("\n");
  } catch (const Error&) {  // a character vocabulary without a newline
  }
  if (ids.size() != 1) {
    throw request_error(
        "the prompt is empty, and the vocabulary has neither an end-of-text token nor a newline to start "
        "from",
        "give a prompt with --prompt");
  }
  return ids.front();
}

}  // namespace

Generated generate(GPT& model, const Tokenizer& tokenizer, std::string_view prompt,
                   const GenerateOptions& options, const StreamFunction& stream) {
  check(options.sampling);
  if (options.max_new_tokens < 0) {
    throw request_error(cat("--max-new-tokens ", options.max_new_tokens, " is out of range: at least 0"));
  }
  LLMTOOL_CHECK(tokenizer.vocab_size() == model.vocab_size(), "tokenizer ", tokenizer.vocab_size(), " model ",
                model.vocab_size());
  TextStream text(options.stop, stream);

  Generated result;
  result.prompt_tokens = tokenizer.encode(prompt);
  if (result.prompt_tokens.empty()) result.prompt_tokens.push_back(start_token(tokenizer));
  if (const auto surplus = std::ssize(result.prompt_tokens) - model.config().block_size; surplus > 0) {
    result.prompt_tokens.erase(result.prompt_tokens.begin(), result.prompt_tokens.begin() + surplus);
    result.prompt_cut = true;
  }
  result.finish = "length";

  const EvaluationScope evaluation(model);
  const Stream draws(options.seed, "sample");
  const auto sample_low = static_cast<std::uint32_t>(options.sample_index);
  const auto sample_high = static_cast<std::uint32_t>(options.sample_index >> 32);
  Context context(model, result.prompt_tokens, options.kv_cache);
  while (std::ssize(result.tokens) < options.max_new_tokens) {
    throw_if_interrupted();
    const std::vector<float> logits = context.next_logits();
    const double u = draws.uniform(result.tokens.size(), sample_low, sample_high);
    const std::int32_t token = sample_token(logits, options.sampling, context.tokens(), u);
    if (token == tokenizer.eot_id()) {
      result.finish = "eot";
      break;
    }
    result.tokens.push_back(token);
    if (text.push(tokenizer.token_bytes(token))) {
      result.finish = "stop";
      break;
    }
    context.append(token);
  }
  text.finish();
  result.text = text.text();
  return result;
}

}  // namespace llmtool
