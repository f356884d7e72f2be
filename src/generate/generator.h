// Generation of one text at a time: the context rule, the cache, stop texts and streaming. Used by
// `generate`, by `train` for its samples and by the demo. Not here: flags and printing.
//
// The context is at most block_size tokens, positions from 0. A longer prompt keeps its last block_size
// tokens. When the context is full, its oldest max(1, block_size / 4) tokens are dropped and the rest is
// evaluated anew. The same with and without the cache.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sampler.h"
#include "model/gpt.h"
#include "text/tokenizer.h"

namespace llmtool {

struct GenerateOptions {
  SamplingOptions sampling;
  std::int64_t max_new_tokens = 80;
  bool kv_cache = true;
  std::vector<std::string> stop;  ///< Generation ends before the first of these texts would appear.
  std::uint64_t seed = 0;
  std::uint64_t sample_index = 0;  ///< Sample i draws from stream (seed, i).
};

struct Generated {
  std::vector<std::int32_t> prompt_tokens;  ///< As evaluated: cut to the block.
  std::vector<std::int32_t> tokens;
  std::string text;    ///< Of the new tokens, stop text excluded.
  std::string finish;  ///< "length", "stop" or "eot".
  bool prompt_cut = false;
};

/// Called with each piece of text as it is complete (never a broken UTF-8 sequence; text that might be the
/// beginning of a stop text is held back). Throws to stop.
using StreamFunction = std::function<void(std::string_view)>;

/// Bytes that are not UTF-8 are shown as U+FFFD, in the stream and in Generated::text; Generated::tokens are
/// exact and do not hold the end-of-text token. Throws Interrupted at a token after Ctrl-C. `prompt` empty:
/// starts from the end-of-text token, or a newline where there is none (request_error if neither is in the
/// vocabulary).
Generated generate(GPT& model, const Tokenizer& tokenizer, std::string_view prompt,
                   const GenerateOptions& options, const StreamFunction& stream = {});

}  // namespace llmtool
