// Byte-level BPE (Sennrich, Haddow, Birch, "Neural machine translation of rare words with subword units",
// 2016, on bytes): encoding by merge rank and decoding. Any bytes round-trip. Not here: how merges are
// learned.
#pragma once
#include <optional>

#include "text/bpe_model.h"
#include "text/pair_map.h"
#include "text/tokenizer.h"

namespace llmtool {

class BpeTokenizer final : public Tokenizer {
 public:
  /// Checks the model as hostile (errors of bpe_token_bytes()).
  explicit BpeTokenizer(BpeModel model);

  const BpeModel& model() const noexcept { return model_; }

  std::string_view type() const noexcept override { return "bpe"; }
  std::int64_t vocab_size() const noexcept override { return static_cast<std::int64_t>(tokens_.size()); }
  /// Of all adjacent pairs that are a merge, the one learned first, leftmost first, is merged, until none is
  /// left: what training did to its text. O(n log n) for n bytes, whatever the text. The text of a special
  /// token is encoded like any other text.
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::optional<std::int32_t> eot_id() const noexcept override { return special_id(end_of_text); }
  std::uint64_t fingerprint() const override;

  /// The id of a special token, where the model has it.
  std::optional<std::int32_t> special_id(std::string_view special) const noexcept;

 protected:
  void append_token(std::int32_t id, std::string& out) const override;

 private:
  BpeModel model_;
  std::vector<std::string> tokens_;     ///< Bytes by id.
  std::vector<std::uint32_t> lengths_;  ///< Their sizes, side by side for the encoder.
  PairMap merged_;                      ///< (left, right) -> id of the merged token.
};

}  // namespace llmtool
