// parse_tokenizer_json(): the layout of tokenizer_json() and of byte-level files that mean the same, checked
// as hostile.
#include <utility>

#include "base/error.h"
#include "checkpoint/tokenizer_file.h"
#include "checkpoint/tokenizer_layout.h"
#include "checkpoint/tokenizer_words.h"
#include "formats/json.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"

namespace llmtool {
namespace {

namespace layout = tokenizer_layout;

class Reader {
 public:
  Reader(const std::string& text, const std::string& origin)
      : origin_(origin), root_(parse_json(text, origin, ErrorKind::world)) {}

  std::unique_ptr<Tokenizer> read() {
    if (!root_.is_object()) fail("", cat("expected an object, got ", json_excerpt(root_)));
    const Json& model = member(root_, "model", "model");
    if (!model.is_object()) fail("model", cat("expected an object, got ", json_excerpt(model)));
    const std::string type = string_member(model, "type", "model.type");
    if (type == "BPE") return byte_level(model);
    expect_null(root_, "post_processor", "post_processor");
    if (type == "WordLevel") return per_character(model);
    fail("model.type",
         cat("\"", printable(type.substr(0, 60)), "\" is not supported: expected BPE or WordLevel"));
  }

 private:
  [[noreturn]] void fail(std::string_view where, const std::string& what) const {
    throw world_error(where.empty() ? cat(origin_, ": ", what) : cat(origin_, ": ", where, ": ", what));
  }

  const Json& member(const Json& object, const char* key, std::string_view where) const {
    const auto at = object.find(key);
    if (at == object.end()) fail(where, "missing");
    return *at;
  }

  std::string string_member(const Json& object, const char* key, std::string_view where) const {
    const Json& value = member(object, key, where);
    if (!value.is_string()) fail(where, cat("expected a string, got ", json_excerpt(value)));
    return value.get<std::string>();
  }

  /// Absent counts as null.
  void expect_null(const Json& object, const char* key, std::string_view where) const {
    const auto at = object.find(key);
    if (at != object.end() && !at->is_null() &&
        !(at->is_string() && at->get_ref<const std::string&>().empty()))
      fail(where, cat("expected null, got ", json_excerpt(*at)));
  }
  void expect_false(const Json& object, const char* key, std::string_view where) const {
    const auto at = object.find(key);
    if (at != object.end() && *at != Json(false)) fail(where, cat("expected false, got ", json_excerpt(*at)));
  }

  bool is(const char* key, std::string_view expected) const {
    const auto at = root_.find(key);
    // Sorted objects: the order of keys within is not part of the meaning.
    return at != root_.end() && nlohmann::json(*at) == nlohmann::json::parse(expected);
  }

  std::int64_t id_of(const Json& value, std::string_view where) const {
    return token_id_of(value, origin_, where);
  }

  std::vector<std::string> vocabulary(const Json& model) const {
    return words_by_id(member(model, "vocab", "model.vocab"), origin_, "model.vocab");
  }

  std::unique_ptr<Tokenizer> per_character(const Json& model) const {
    if (!is("pre_tokenizer", layout::per_character))
      fail("pre_tokenizer", "expected a split at every character");
    expect_no_added();
    std::vector<std::string> words = vocabulary(model);
    if (is("normalizer", layout::ascii_only)) {
      if (words.size() != 128) fail("model.vocab", cat(words.size(), " entries where ASCII has 128"));
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != std::string(1, static_cast<char>(i)))
          fail("model.vocab", cat("id ", i, " is not the character of that code"));
      }
      return std::make_unique<AsciiTokenizer>();
    }
    expect_null(root_, "normalizer", "normalizer");
    return std::make_unique<CharTokenizer>(CharVocabulary{std::move(words)});
  }

  std::unique_ptr<Tokenizer> byte_level(const Json& model) const {
    // The byte level after encoding trims offsets and leaves the ids alone.
    const auto post = root_.find("post_processor");
    if (post == root_.end() || text_of(*post, "type") != "ByteLevel")
      expect_null(root_, "post_processor", "post_processor");
    expect_null(root_, "normalizer", "normalizer");
    for (const char* key : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"})
      expect_null(model, key, cat("model.", key));
    for (const char* key : {"fuse_unk", "byte_fallback"}) expect_false(model, key, cat("model.", key));

    const std::vector<std::string> words = vocabulary(model);
    BpeModel bpe = model_of_words(words, merges(model), {origin_, "model.vocab", "model.merges"});
    bpe.pretokenizer = pretokenizer();
    bpe.specials = specials(words, 256 + bpe.merges.size());
    const auto ignore = model.find("ignore_merges");
    if (ignore != model.end() && *ignore == Json(true)) {
      if (!bpe.merges.empty() || !bpe.specials.empty() || bpe.pretokenizer != "none")
        fail("model.ignore_merges", "expected false where there are merges, added tokens or splitting");
      if (BpeTokenizer(bpe).fingerprint() != BpeTokenizer(BpeModel{}).fingerprint())
        fail("model.vocab", "expected the 256 bytes in order where merges are ignored");
      return std::make_unique<ByteTokenizer>();
    }
    if (ignore != model.end()) expect_false(model, "ignore_merges", "model.ignore_merges");
    return std::make_unique<BpeTokenizer>(std::move(bpe));
  }

  /// A string member of what may be anything; "" if there is none.
  static std::string text_of(const Json& value, const char* key) {
    if (!value.is_object()) return {};
    const auto at = value.find(key);
    return at != value.end() && at->is_string() ? at->get<std::string>() : std::string();
  }
  static bool flag_of(const Json& object, const char* key, bool otherwise) {
    const auto at = object.find(key);
    return at != object.end() && at->is_boolean() ? at->get<bool>() : otherwise;
  }
  /// A byte level without a prefix space, with or without the splitting of GPT-2. Absent flags are true.
  static bool is_byte_level(const Json& value, bool with_split) {
    return text_of(value, "type") == "ByteLevel" && !flag_of(value, "add_prefix_space", true) &&
           flag_of(value, "use_regex", true) == with_split;
  }

  /// The name of the splitting that the file asks for.
  std::string pretokenizer() const {
    const auto pre = root_.find("pre_tokenizer");
    if (pre != root_.end()) {
      if (is_byte_level(*pre, false)) return "none";
      if (is_byte_level(*pre, true)) return "gpt2";
      const auto parts = pre->is_object() ? pre->find("pretokenizers") : pre->end();
      if (text_of(*pre, "type") == "Sequence" && parts != pre->end() && parts->is_array() &&
          parts->size() == 2 && is_byte_level((*parts)[1], false)) {
        const Json& first = (*parts)[0];
        const std::string regex =
            first.is_object() && first.contains("pattern") ? text_of(first["pattern"], "Regex") : "";
        if (text_of(first, "type") == "Split" && text_of(first, "behavior") == "Isolated" &&
            !flag_of(first, "invert", true)) {
          for (const layout::Pattern& pattern : layout::patterns)
            if (pattern.regex == regex) return std::string(pattern.pretokenizer);
        }
      }
    }
    fail("pre_tokenizer",
         "expected byte level without a prefix space, without splitting or with the pattern of GPT-2 or "
         "GPT-4");
  }

  std::vector<std::pair<std::string, std::string>> merges(const Json& model) const {
    const Json& list = member(model, "merges", "model.merges");
    if (!list.is_array()) fail("model.merges", cat("expected a list, got ", json_excerpt(list)));
    std::vector<std::pair<std::string, std::string>> pairs;
    pairs.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) pairs.push_back(halves(list[i], i));
    return pairs;
  }

  /// "a b" or ["a", "b"]: both are in use.
  std::pair<std::string, std::string> halves(const Json& entry, std::size_t index) const {
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string())
      return {entry[0].get<std::string>(), entry[1].get<std::string>()};
    if (entry.is_string()) {
      const std::string& text = entry.get_ref<const std::string&>();
      const auto space = text.find(' ');
      if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
        return {text.substr(0, space), text.substr(space + 1)};
    }
    fail(cat("model.merges[", index, "]"), cat("expected two tokens, got ", json_excerpt(entry)));
  }

  /// The added tokens, whose ids must follow those of the merges; the vocabulary may have them, too.
  std::vector<std::string> specials(const std::vector<std::string>& words, std::size_t first_id) const {
    std::vector<std::string> out;
    const auto added = root_.find("added_tokens");
    if (added != root_.end() && !added->is_null()) {
      if (!added->is_array()) fail("added_tokens", cat("expected a list, got ", json_excerpt(*added)));
      for (const Json& entry : *added) {
        const std::string where = cat("added_tokens[", out.size(), "]");
        if (!entry.is_object()) fail(where, cat("expected an object, got ", json_excerpt(entry)));
        const std::int64_t id = id_of(member(entry, "id", cat(where, ".id")), cat(where, ".id"));
        const std::size_t expected = first_id + out.size();
        if (std::cmp_not_equal(id, expected))
          fail(cat(where, ".id"), cat("expected ", expected, ", got ", id));
        out.push_back(string_member(entry, "content", cat(where, ".content")));
        if (expected < words.size() && words[expected] != out.back())
          fail(cat(where, ".content"), cat("is not what the vocabulary has for id ", expected));
      }
    }
    if (first_id + out.size() < words.size())
      fail("model.vocab",
           cat("id ", first_id + out.size(), " is neither made by a merge nor an added token"));
    return out;
  }
  void expect_no_added() const {
    const auto added = root_.find("added_tokens");
    if (added != root_.end() && !added->is_null() && *added != Json::array())
      fail("added_tokens", "expected an empty list");
  }

  const std::string& origin_;
  Json root_;
};

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer_json(const std::string& json, const std::string& origin) {
  Reader reader(json, origin);
  try {
    return reader.read();
  } catch (const Error& error) {
    // The checks of text know no file; the reader's own errors open with it already.
    const std::string what = error.what();
    if (what.rfind(origin, 0) == 0) throw;
    throw world_error(cat(origin, ": ", what), error.hint());
  }
}

}  // namespace llmtool
