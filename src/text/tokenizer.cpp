// The part of a tokenizer that is the same for all: checked decoding.
#include "text/tokenizer.h"

#include "base/error.h"

namespace llmtool {

void Tokenizer::check_id(std::int32_t id) const {
  if (id < 0 || id >= vocab_size()) {
    throw request_error(cat("token id ", id, " is out of range: the vocabulary has ", vocab_size(),
                            " tokens, ids 0 to ", vocab_size() - 1));
  }
}

std::string Tokenizer::token_bytes(std::int32_t id) const {
  check_id(id);
  std::string out;
  append_token(id, out);
  return out;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string out;
  for (const std::int32_t id : ids) {
    check_id(id);
    append_token(id, out);
  }
  return out;
}

std::vector<std::uint32_t> token_lengths(const Tokenizer& tokenizer) {
  std::vector<std::uint32_t> lengths(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (std::size_t id = 0; id < lengths.size(); ++id)
    lengths[id] = static_cast<std::uint32_t>(tokenizer.token_bytes(static_cast<std::int32_t>(id)).size());
  return lengths;
}

}  // namespace llmtool
