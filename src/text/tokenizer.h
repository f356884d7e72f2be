// What every tokenizer does: text to token ids and back. The kinds are in char_tokenizer.h, byte_tokenizer.h
// and bpe_tokenizer.h. Not here: training one (make_tokenizer.h) and files that hold one (a level above knows
// JSON).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmtool {

/// No vocabulary is larger; ids fit 32 bits with room to spare.
inline constexpr std::int64_t max_vocab_size = std::int64_t{1} << 20;

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// "char", "ascii", "bytes" or "bpe".
  virtual std::string_view type() const noexcept = 0;
  /// Ids are 0 .. vocab_size() - 1.
  virtual std::int64_t vocab_size() const noexcept = 0;

  /// The ids of `text`. request_error where the vocabulary lacks a character (only "char"; "ascii" drops it).
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;

  /// The last place where `text` may be cut whatever follows it: what lies on both sides, encoded apart,
  /// gives the ids of the whole. 0 if no place is known to be one.
  virtual std::size_t last_cut(std::string_view text) const noexcept = 0;

  /// The raw bytes of one token. request_error if the id is out of range, with the id and the size.
  std::string token_bytes(std::int32_t id) const;
  /// The bytes of all tokens, joined. Errors as token_bytes().
  std::string decode(std::span<const std::int32_t> ids) const;

  /// The token that ends a document (the special `<|endoftext|>`), where the vocabulary has one.
  virtual std::optional<std::int32_t> eot_id() const noexcept { return std::nullopt; }

  /// A hash over everything that decides ids: equal for equal tokenizers, across runs and machines.
  virtual std::uint64_t fingerprint() const = 0;

 protected:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;

  /// Appends the bytes of an id that is known to be in range.
  virtual void append_token(std::int32_t id, std::string& out) const = 0;

 private:
  void check_id(std::int32_t id) const;
};

/// How many bytes each token stands for, by id.
std::vector<std::uint32_t> token_lengths(const Tokenizer& tokenizer);

}  // namespace llmtool
