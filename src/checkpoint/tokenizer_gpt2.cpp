// parse_gpt2_vocabulary(): GPT-2's vocab.json and merges.txt.
#include "base/error.h"
#include "base/files.h"
#include "checkpoint/tokenizer_file.h"
#include "checkpoint/tokenizer_words.h"
#include "text/bpe_tokenizer.h"

namespace llmtool {
namespace {

/// A line per merge, two words with a space between; a first line `#version: ..` and empty ones are skipped.
std::vector<std::pair<std::string, std::string>> parse_merges(std::string_view text,
                                                              const std::string& origin) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.ends_with('\r')) entry.remove_suffix(1);
    if (entry.empty() || (line == 1 && entry.starts_with("#version"))) continue;
    const std::size_t space = entry.find(' ');
    if (space == 0 || space >= entry.size() - 1 || entry.find(' ', space + 1) != std::string_view::npos)
      throw world_error(cat(origin, ": line ", line, ": expected two tokens with a space between, got '",
                            printable(entry.substr(0, 60)), "'"));
    merges.emplace_back(entry.substr(0, space), entry.substr(space + 1));
  }
  return merges;
}

}  // namespace

std::unique_ptr<Tokenizer> parse_gpt2_vocabulary(const std::string& vocab_json,
                                                 const std::string& vocab_origin,
                                                 const std::string& merges_txt,
                                                 const std::string& merges_origin) {
  const Json vocab = parse_json(vocab_json, vocab_origin, ErrorKind::world);
  const std::vector<std::string> words = words_by_id(vocab, vocab_origin, "vocabulary");
  BpeModel model = model_of_words(words, parse_merges(merges_txt, merges_origin),
                                  {vocab_origin, "vocabulary", cat("merges of ", merges_origin)});
  model.pretokenizer = "gpt2";
  for (std::size_t id = 256 + model.merges.size(); id < words.size(); ++id)
    model.specials.push_back(words[id]);
  try {
    return std::make_unique<BpeTokenizer>(std::move(model));
  } catch (const Error& error) {
    throw world_error(cat(vocab_origin, ": ", error.what()), error.hint());
  }
}

}  // namespace llmtool
