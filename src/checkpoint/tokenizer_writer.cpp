// tokenizer_json(): written as text, in the order that Hugging Face's own files have.
#include "base/error.h"
#include "base/utf8.h"
#include "checkpoint/byte_alphabet.h"
#include "checkpoint/tokenizer_file.h"
#include "checkpoint/tokenizer_layout.h"
#include "formats/json.h"
#include "text/bpe_tokenizer.h"

namespace llmtool {
namespace {

namespace layout = tokenizer_layout;

std::string quoted(const std::string& text) { return to_json_line(Json(text)); }

/// "[" or "{", one item per line, "]" or "}".
std::string block(char open, const std::vector<std::string>& items, char close, std::string_view indent) {
  std::string out(1, open);
  for (std::size_t i = 0; i < items.size(); ++i) out += cat(i == 0 ? "\n" : ",\n", indent, "  ", items[i]);
  if (!items.empty()) out += cat("\n", indent);
  return out + close;
}

struct Parts {
  std::vector<std::string> added;
  std::string_view normalizer = "null", decoder;
  std::string pre_tokenizer, model;
};

std::string document(const Parts& parts) {
  return cat(
      "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": ",
      block('[', parts.added, ']', "  "), ",\n  \"normalizer\": ", parts.normalizer,
      ",\n  \"pre_tokenizer\": ", parts.pre_tokenizer,
      ",\n  \"post_processor\": null,\n  \"decoder\": ", parts.decoder, ",\n  \"model\": ", parts.model,
      "\n}\n");
}

/// The vocabulary as a JSON object; `spell` gives a token's bytes as text.
template <class Spell>
std::string vocabulary(const Tokenizer& tokenizer, std::int64_t count, Spell spell) {
  std::vector<std::string> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (std::int64_t id = 0; id < count; ++id)
    entries.push_back(cat(quoted(spell(tokenizer.token_bytes(static_cast<std::int32_t>(id)))), ": ", id));
  return block('{', entries, '}', "    ");
}

/// How text is split, then the byte alphabet.
std::string byte_level_pre_tokenizer(std::string_view pretokenizer) {
  if (pretokenizer == "none") return std::string(layout::byte_level);
  if (pretokenizer == "gpt2") return std::string(layout::byte_level_gpt2);
  for (const layout::Pattern& pattern : layout::patterns) {
    if (pattern.pretokenizer != pretokenizer) continue;
    return cat(R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": )",
               quoted(std::string(pattern.regex)), R"(}, "behavior": "Isolated", "invert": false}, )",
               layout::byte_level, "]}");
  }
  LLMTOOL_CHECK(false, "pretokenizer ", pretokenizer);
  return {};
}

/// `no_merges`: the plain bytes, told from a BPE that has learned nothing yet by "ignore_merges".
std::string byte_level_json(const Tokenizer& tokenizer, const BpeModel& bpe, bool no_merges) {
  Parts parts;
  parts.pre_tokenizer = byte_level_pre_tokenizer(bpe.pretokenizer);
  parts.decoder = layout::byte_level;
  const auto spell = [](const std::string& bytes) { return to_byte_alphabet(bytes); };
  const std::int64_t in_model = 256 + std::ssize(bpe.merges);
  for (std::size_t i = 0; i < bpe.specials.size(); ++i) {
    const std::string& special = bpe.specials[i];
    if (!is_utf8(special)) {
      throw request_error(cat("the special token '", printable(special),
                              "' is not UTF-8 and cannot be written to a tokenizer.json"));
    }
    parts.added.push_back(
        cat("{\"id\": ", in_model + static_cast<std::int64_t>(i), ", \"content\": ", quoted(special),
            ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, "
            "\"special\": true}"));
  }
  std::vector<std::string> merges;
  merges.reserve(bpe.merges.size());
  for (const auto& [left, right] : bpe.merges)
    merges.push_back(
        quoted(cat(spell(tokenizer.token_bytes(left)), " ", spell(tokenizer.token_bytes(right)))));
  parts.model =
      cat("{\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": null,\n    "
          "\"continuing_subword_prefix\": "
          "null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n    \"byte_fallback\": "
          "false,\n    "
          "\"ignore_merges\": ",
          no_merges, ",\n    \"vocab\": ", vocabulary(tokenizer, in_model, spell),
          ",\n    \"merges\": ", block('[', merges, ']', "    "), "\n  }");
  return document(parts);
}

/// The unknown token is named, as the layout wants, but is in no vocabulary: an unknown character is an error
/// there too.
std::string per_character_json(const Tokenizer& tokenizer, bool ascii) {
  Parts parts;
  if (ascii) parts.normalizer = layout::ascii_only;
  parts.pre_tokenizer = layout::per_character;
  parts.decoder = layout::fuse;
  const auto spell = [](const std::string& bytes) { return bytes; };
  parts.model =
      cat("{\n    \"type\": \"WordLevel\",\n    \"vocab\": ",
          vocabulary(tokenizer, tokenizer.vocab_size(), spell), ",\n    \"unk_token\": \"[UNK]\"\n  }");
  return document(parts);
}

}  // namespace

std::string tokenizer_json(const Tokenizer& tokenizer) {
  const std::string_view type = tokenizer.type();
  if (type == "bytes") return byte_level_json(tokenizer, BpeModel{}, true);
  if (type == "ascii" || type == "char") return per_character_json(tokenizer, type == "ascii");
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  LLMTOOL_CHECK(bpe != nullptr, "a tokenizer of type ", type);
  return byte_level_json(tokenizer, bpe->model(), false);
}

}  // namespace llmtool
