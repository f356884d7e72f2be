// Encoding on several threads and texts larger than memory: the text is cut where cutting changes no id
// (Tokenizer::last_cut), so the ids are those of one encode() for any number of threads and any block size.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "text/corpus.h"
#include "text/tokenizer.h"

namespace llmtool {

/// tokenizer.encode(text), or throws what that throws.
std::vector<std::int32_t> encode_on(ThreadPool& pool, const Tokenizer& tokenizer, std::string_view text);

/// The ids of a source, block by block. Memory is that of a few blocks, unless a piece is longer.
class EncodeStream {
 public:
  /// All three outlive the stream.
  EncodeStream(TextSource& source, const Tokenizer& tokenizer, ThreadPool& pool)
      : source_(source), tokenizer_(tokenizer), pool_(pool) {}

  /// The next ids; false at the end. Where a text has a character that the vocabulary lacks, the error of
  /// Tokenizer::encode, with the byte where the block begins.
  bool next(std::vector<std::int32_t>& ids);

 private:
  TextSource& source_;
  const Tokenizer& tokenizer_;
  ThreadPool& pool_;
  std::string text_;           ///< Read and not yet encoded.
  std::uint64_t encoded_ = 0;  ///< Bytes before it.
  bool ended_ = false;
};

}  // namespace llmtool
