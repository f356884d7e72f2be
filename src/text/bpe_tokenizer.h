// Byte-level BPE (Sennrich, Haddow, Birch, "Neural machine translation of rare words with subword units",
// 2016, on bytes): encoding by merge rank and decoding. Any bytes round-trip. Not here: how merges are
// learned.
#pragma once
#include <optional>

#include "text/bpe_model.h"
#include "text/pair_map.h"
#include "text/piece_cache.h"
#include "text/pretokenizer.h"
#include "text/token_chain.h"
#include "text/tokenizer.h"

namespace llmtool {

class BpeTokenizer final : public Tokenizer {
 public:
  /// Checks the model as hostile (errors of bpe_token_bytes() and split_by_name()).
  explicit BpeTokenizer(BpeModel model);

  const BpeModel& model() const noexcept { return model_; }

  std::string_view type() const noexcept override { return "bpe"; }
  std::int64_t vocab_size() const noexcept override { return static_cast<std::int64_t>(tokens_.size()); }
  /// In each piece that the pretokenizer cuts: of all adjacent pairs that are a merge, the one learned first,
  /// leftmost first, is merged, until none is left: what training did to its text. O(n log n) for the n bytes
  /// of the longest piece, whatever the text. The text of a special token is encoded like any other text.
  std::vector<std::int32_t> encode(std::string_view text) const override;
  /// The same, but where the text of a special token stands, that token; leftmost first, of several at one
  /// place the longest. Only for text whose author may give control tokens.
  std::vector<std::int32_t> encode_with_specials(std::string_view text) const;
  std::size_t last_cut(std::string_view text) const noexcept override;
  std::optional<std::int32_t> eot_id() const noexcept override { return special_id(end_of_text); }
  std::uint64_t fingerprint() const override;

  /// The id of a special token, where the model has it.
  std::optional<std::int32_t> special_id(std::string_view special) const noexcept;

 protected:
  void append_token(std::int32_t id, std::string& out) const override;

 private:
  /// Whether some token has the byte `b` behind the byte `a`. Where none does, nothing merges across.
  bool may_join(char a, char b) const noexcept {
    return joined_[std::size_t{static_cast<unsigned char>(a)} << 8 | static_cast<unsigned char>(b)];
  }
  void append_ids(std::string_view text, std::vector<std::int32_t>& out) const;
  void append_piece(std::string_view piece, std::string_view text, PieceCache& cache,
                    std::vector<std::int32_t>& out) const;
  void merge_short(std::string_view piece, std::vector<std::int32_t>& out) const;
  void merge_long(std::string_view piece, std::vector<std::int32_t>& out) const;

  BpeModel model_;
  Split split_;
  std::vector<std::string> tokens_;     ///< Bytes by id.
  std::vector<std::uint32_t> lengths_;  ///< Their sizes, side by side for the encoder.
  ByteIds byte_ids_{};
  std::vector<std::int32_t>
      byte_pairs_;            ///< [left << 8 | right] for two bytes' ids: what they merge to, or -1.
  std::vector<bool> joined_;  ///< [a << 8 | b]: see may_join().
  PairMap merged_;            ///< (left, right) -> id of the merged token.
};

}  // namespace llmtool
