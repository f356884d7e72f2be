// The two tokenizers whose ids are codes: nothing to train and nothing to store. Not here: BPE, which starts
// from the same 256 bytes.
#pragma once
#include "text/tokenizer.h"

namespace llmtool {

/// "bytes": 256 tokens, each byte its value; any bytes round-trip.
class ByteTokenizer final : public Tokenizer {
 public:
  std::string_view type() const noexcept override { return "bytes"; }
  std::int64_t vocab_size() const noexcept override { return 256; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::size_t last_cut(std::string_view text) const noexcept override { return text.size(); }
  std::uint64_t fingerprint() const override;

 protected:
  void append_token(std::int32_t id, std::string& out) const override;
};

/// "ascii": 128 tokens, each ASCII character its code; every other byte is dropped.
class AsciiTokenizer final : public Tokenizer {
 public:
  std::string_view type() const noexcept override { return "ascii"; }
  std::int64_t vocab_size() const noexcept override { return 128; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::size_t last_cut(std::string_view text) const noexcept override { return text.size(); }
  std::uint64_t fingerprint() const override;

 protected:
  void append_token(std::int32_t id, std::string& out) const override;
};

}  // namespace llmtool
