// The character tokenizer: one token per Unicode code point that the training text holds, in order of first
// appearance. Not here: grapheme clusters or normalisation; a code point is a character.
#pragma once
#include <array>
#include <unordered_map>

#include "text/tokenizer.h"

namespace llmtool {

/// What a character tokenizer is made of; index = id. Each entry is the UTF-8 of one code point.
struct CharVocabulary {
  std::vector<std::string> characters;
};

/// The distinct code points of `text` in order of first appearance (`hello world hello`: h e l o space w r
/// d). world_error where the text is not UTF-8, with the byte offset, and where it is empty.
CharVocabulary char_vocabulary_of(std::string_view text);

class CharTokenizer final : public Tokenizer {
 public:
  /// Checks the vocabulary as hostile: not empty, each entry one code point of valid UTF-8, none twice;
  /// world_error naming the entry otherwise.
  explicit CharTokenizer(CharVocabulary vocabulary);

  const CharVocabulary& vocabulary() const noexcept { return vocabulary_; }

  std::string_view type() const noexcept override { return "char"; }
  std::int64_t vocab_size() const noexcept override;
  /// request_error for a character that is not in the vocabulary, or bytes that are not UTF-8: names the
  /// character and its position, counted in characters from 0.
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::size_t last_cut(std::string_view text) const noexcept override;
  std::uint64_t fingerprint() const override;

 protected:
  void append_token(std::int32_t id, std::string& out) const override;

 private:
  /// -1: not in the vocabulary.
  std::int32_t id_of(char32_t character) const noexcept;

  CharVocabulary vocabulary_;
  std::array<std::int32_t, 128> ascii_;  ///< Ids of ASCII, -1 where absent: the common case without hashing.
  std::unordered_map<char32_t, std::int32_t> others_;
};

}  // namespace llmtool
