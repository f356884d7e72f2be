// What a byte-level BPE vocabulary is made of, as plain data that a level above can write to a file, and the
// checked table of its tokens. Not here: training (bpe_trainer.h) and encoding (bpe_tokenizer.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmtool {

/// The special token that ends a document.
inline constexpr std::string_view end_of_text = "<|endoftext|>";
/// Limits of one token and of all tokens together; merges can double lengths, so a small file could ask for
/// more memory than there is.
inline constexpr std::size_t max_token_bytes = std::size_t{1} << 16;
inline constexpr std::size_t max_vocab_bytes = std::size_t{1} << 26;

/// Ids 0 to 255 are the bytes; id 256 + i is merges[i], of two earlier tokens; the specials follow.
struct BpeModel {
  /// The bytes of the ids 0 to 255, each byte once; empty: id and byte are equal. The vocabularies of GPT-2
  /// and GPT-4 have an order of their own.
  std::string byte_order;
  std::vector<std::pair<std::int32_t, std::int32_t>> merges;
  std::vector<std::string> specials;  ///< Never produced from text; their text is what they decode to.
  std::string pretokenizer = "none";  ///< How text is split before merging (pretokenizer.h).
  std::int64_t min_frequency = 1;     ///< What training asked for; encoding does not depend on it.
};

/// The bytes of every token of a model, by id. Checks the model as hostile: world_error naming the merge or
/// special that refers to a token not yet made, repeats a pair, makes bytes that are a token already, is
/// empty, or exceeds a limit, and for a byte order that is none.
std::vector<std::string> bpe_token_bytes(const BpeModel& model);

}  // namespace llmtool
