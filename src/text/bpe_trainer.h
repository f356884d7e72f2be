// Learning the merges of a byte-level BPE vocabulary. Not here: using them (bpe_tokenizer.h).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "text/bpe_model.h"
#include "text/corpus.h"

namespace llmtool {

struct BpeTrainOptions {
  std::int64_t vocab_size = 1024;  ///< The 256 bytes and the specials included.
  std::int64_t min_frequency = 1;  ///< A pair seen less often is not merged; at least 1.
  std::string pretokenizer = "none";
  std::vector<std::string> specials;
};

/// Starting from bytes, the most frequent pair of adjacent tokens becomes a token, again and again, until
/// vocab_size is reached or no pair occurs min_frequency times; the model may therefore be smaller than asked
/// for.
///
/// With a pretokenizer, the text is split first, no pair spans two pieces, and the work is done on the
/// distinct pieces, each counting as often as it occurs.
///
/// The count of a pair (a, b) is the number of places where b directly follows a, so in `aaa` the pair (a, a)
/// counts 2, though merging, which goes left to right and does not overlap, happens once. Equal counts: the
/// smaller left id, then the smaller right id. A pair whose bytes are a token already (reached by other
/// merges), or would exceed max_token_bytes, is passed over, so that bytes name tokens uniquely. With
/// vocab_size 256 nothing is merged.
///
/// Counts are kept as merges change them, never recounted: about O(n log n) for n bytes of distinct pieces,
/// four to eight bytes of memory per byte of those and as much again for new pairs.
///
/// request_error: vocab_size below 256 plus specials or above max_vocab_size, min_frequency below 1, an
/// unknown pretokenizer. world_error: an empty text, or distinct pieces above 4 GiB.
BpeModel train_bpe(std::string_view text, const BpeTrainOptions& options);
/// The same model, counted on all threads of the pool.
BpeModel train_bpe(std::string_view text, const BpeTrainOptions& options, ThreadPool& pool);

/// What a long training tells while it goes.
struct BpeTrainProgress {
  std::function<void(std::uint64_t bytes)> counted;                      ///< Bytes of text read and counted.
  std::function<void(std::int64_t tokens, std::int64_t target)> merged;  ///< Tokens of the vocabulary so far.
};

struct BpeTraining {
  BpeModel model;
  std::uint64_t bytes = 0;   ///< Of the text learned from,
  std::uint64_t tokens = 0;  ///< and what the model makes of it.
};

/// The same model from texts that may be larger than memory, counted on all threads of the pool: what is held
/// is the distinct pieces. Without a pretokenizer the whole text is one piece and is held. Gives the same
/// bytes for any number of threads.
BpeTraining train_bpe(TextSource& source, const BpeTrainOptions& options, ThreadPool& pool,
                      const BpeTrainProgress& progress = {});

}  // namespace llmtool
