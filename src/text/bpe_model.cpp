// Checking a BPE model and expanding its merges to bytes.
#include "text/bpe_model.h"

#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "text/tokenizer.h"

namespace llmtool {

std::vector<std::string> bpe_token_bytes(const BpeModel& model) {
  const std::size_t total = 256 + model.merges.size() + model.specials.size();
  if (std::cmp_greater(total, max_vocab_size)) {
    throw world_error(cat("[bpe] a vocabulary of ", total, " tokens is too large: at most ", max_vocab_size));
  }

  std::vector<std::string> tokens;
  tokens.reserve(total);
  std::unordered_set<std::string> seen;
  for (int id = 0; id < 256; ++id) {
    if (!model.byte_order.empty() && model.byte_order.size() != 256) break;
    const auto i = static_cast<unsigned char>(id);
    tokens.emplace_back(1, model.byte_order.empty() ? static_cast<char>(i) : model.byte_order[i]);
    seen.insert(tokens.back());
  }
  if (seen.size() != 256) throw world_error("[bpe] the order of bytes does not have each of the 256 once");
  std::size_t bytes = 256;
  for (std::size_t i = 0; i < model.merges.size(); ++i) {
    const auto [left, right] = model.merges[i];
    const auto name = [&, l = left, r = right] { return cat("[bpe] merge ", i, ", (", l, ",", r, "), "); };
    const auto made = tokens.size();
    if (left < 0 || right < 0 || std::cmp_greater_equal(left, made) || std::cmp_greater_equal(right, made)) {
      throw world_error(
          cat(name(), "refers to a token that is not made before it: ids 0 to ", made - 1, " are"));
    }
    const std::string& a = tokens[static_cast<std::size_t>(left)];
    const std::string& b = tokens[static_cast<std::size_t>(right)];
    if (a.size() + b.size() > max_token_bytes || bytes + a.size() + b.size() > max_vocab_bytes) {
      throw world_error(cat(name(), "makes a token of ", a.size() + b.size(), " bytes: at most ",
                            max_token_bytes, " in one token and ", max_vocab_bytes, " in all"));
    }
    // Also catches a pair that is there twice.
    if (!seen.insert(a + b).second) throw world_error(cat(name(), "makes bytes that are a token already"));
    bytes += a.size() + b.size();
    tokens.push_back(a + b);
  }
  std::unordered_set<std::string_view> special_names;
  for (const std::string& special : model.specials) {
    if (special.empty()) throw world_error("[bpe] a special token is empty");
    if (special.size() > max_token_bytes) {
      throw world_error(
          cat("[bpe] a special token has ", special.size(), " bytes, at most ", max_token_bytes));
    }
    if (!special_names.insert(special).second || seen.contains(special)) {
      throw world_error(cat("[bpe] special token '", printable(special), "' is in the vocabulary twice"));
    }
    tokens.push_back(special);
  }
  return tokens;
}

}  // namespace llmtool
