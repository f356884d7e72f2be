// parse_tiktoken_ranks(): base64 lines, and the merges behind the ranks.
#include <array>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "checkpoint/tokenizer_file.h"
#include "text/bpe_tokenizer.h"
#include "text/pair_map.h"
#include "text/pretokenizer.h"

namespace llmtool {
namespace {

/// A token's merge is recovered in time quadratic in its length, so lengths are bounded; the longest
/// published are 128 bytes.
constexpr std::size_t max_rank_bytes = 256;
constexpr std::size_t max_file_bytes = std::size_t{64} << 20;

/// Base64 with padding (RFC 4648); nullopt unless it is exactly that.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) text.remove_suffix(1), ++padding;
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    std::uint32_t value;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<std::uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<std::uint32_t>(c - 'a' + 26);
    } else if (c >= '0' && c <= '9') {
      value = static_cast<std::uint32_t>(c - '0' + 52);
    } else if (c == '+' || c == '/') {
      value = c == '+' ? 62 : 63;
    } else {
      return std::nullopt;
    }
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(static_cast<unsigned char>(bits >> count));
    bits &= (1u << count) - 1;
  }
  if (bits != 0) return std::nullopt;
  return out;
}

class Ranks {
 public:
  Ranks(std::string_view text, const std::string& origin) : origin_(origin) {
    if (text.size() > max_file_bytes)
      fail(1, cat("the file has ", text.size(), " bytes, at most ", max_file_bytes));
    for (std::size_t line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view entry = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (entry.ends_with('\r')) entry.remove_suffix(1);
      if (!entry.empty()) add(entry, line);
    }
    if (tokens_.size() < 256)
      throw world_error(cat(origin_, ": ", tokens_.size(), " tokens: the 256 bytes are not all there"));
    model_.pretokenizer = fitting_split();
  }

  BpeModel take() { return std::move(model_); }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw world_error(cat(origin_, ": line ", line, ": ", what));
  }

  void add(std::string_view entry, std::size_t line) {
    const std::size_t space = std::min(entry.find(' '), entry.size());
    const auto bytes = from_base64(entry.substr(0, space));
    if (!bytes || bytes->empty() || space == entry.size())
      fail(line, cat("expected base64, a space and an id, got '", printable(entry.substr(0, 60)), "'"));
    const std::string_view number = entry.substr(space + 1);
    std::size_t id = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() || id < tokens_.size())
      fail(line, cat("expected id ", tokens_.size(), ", got '", printable(number.substr(0, 20)), "'"));
    if (id > tokens_.size())
      fail(line, cat("id ", id, " where ", tokens_.size(), " is expected: ranks with gaps cannot be read"));
    if (bytes->size() > max_rank_bytes)
      fail(line, cat("a token of ", bytes->size(), " bytes, at most ", max_rank_bytes));
    if (id < 256) {
      if (bytes->size() != 1) fail(line, "expected the 256 bytes first");
      byte_ids_[static_cast<unsigned char>(bytes->front())] = static_cast<std::int32_t>(id);
      model_.byte_order += *bytes;
    } else {
      const std::vector<std::int32_t> parts = merged(*bytes);
      if (parts.size() != 2)
        fail(line, cat("the token is not made of two earlier ones: merging its bytes leaves ", parts.size()));
      model_.merges.emplace_back(parts[0], parts[1]);
      pairs_.insert(pair_key(parts[0], parts[1]), static_cast<std::int32_t>(id));
    }
    tokens_.push_back(*bytes);
  }

  /// What the tokens so far make of the bytes.
  std::vector<std::int32_t> merged(std::string_view bytes) const {
    std::vector<std::int32_t> ids;
    for (const char c : bytes) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    while (ids.size() > 1) {
      std::int32_t best = -1;
      std::size_t place = 0;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const std::int32_t id = pairs_.find(pair_key(ids[i], ids[i + 1]));
        if (id >= 0 && (best < 0 || id < best)) best = id, place = i;
      }
      if (best < 0) break;
      ids[place] = best;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    return ids;
  }

  /// A vocabulary learned from split text has no token that the splitting would cut; those that end inside a
  /// character say nothing.
  std::string fitting_split() const {
    for (const char* name : {"gpt4", "gpt2"}) {
      bool fits = true;
      for (const std::string& token : tokens_) {
        if (!is_utf8(token)) continue;
        PieceScanner scanner(token, split_by_name(name));
        fits = scanner.next().size() == token.size();
        if (!fits) break;
      }
      if (fits) return name;
    }
    throw world_error(cat(origin_,
                          ": neither the splitting of GPT-4 nor that of GPT-2 leaves every token whole, ",
                          "so how text is to be split is not known"));
  }

  const std::string& origin_;
  std::vector<std::string> tokens_;
  std::array<std::int32_t, 256> byte_ids_{};
  PairMap pairs_;
  BpeModel model_;
};

}  // namespace

std::unique_ptr<Tokenizer> parse_tiktoken_ranks(const std::string& text, const std::string& origin) {
  BpeModel model = Ranks(text, origin).take();
  try {
    return std::make_unique<BpeTokenizer>(std::move(model));
  } catch (const Error& error) {
    throw world_error(cat(origin, ": ", error.what()), error.hint());
  }
}

}  // namespace llmtool
