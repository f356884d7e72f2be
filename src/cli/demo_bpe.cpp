// Demo: a byte-level BPE vocabulary of 400 tokens, learned from the built-in corpus.
#include <string>

#include "base/cat.h"
#include "base/files.h"
#include "cli/demo.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/builtin_corpus.h"

namespace llmtool {

namespace {

std::string ids_text(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += cat(text.empty() ? "" : " ", id);
  return text;
}

}  // namespace

void demo_bpe(const DemoOutput& out) {
  BpeTrainOptions options;
  options.vocab_size = 400;
  const BpeTokenizer tokenizer(train_bpe(builtin_corpus(), options));
  const std::size_t merges = tokenizer.model().merges.size();
  out.say(cat("== bpe: ", tokenizer.vocab_size(), " tokens = 256 bytes + ", merges, " merges, from ",
              builtin_corpus().size(), " characters =="));
  out.say("first merges:");
  for (std::size_t i = 0; i < 5 && i < merges; ++i) {
    const auto [left, right] = tokenizer.model().merges[i];
    out.say(cat("  ", 256 + i, " = '", printable(tokenizer.token_bytes(left)), "' + '",
                printable(tokenizer.token_bytes(right)), "'"));
  }
  const auto red = tokenizer.encode("Red");
  out.say(cat("Red -> ", ids_text(red)));
  std::vector<std::int32_t> fox;
  for (const char c : {'f', 'o', 'x'}) fox.push_back(tokenizer.encode(std::string_view(&c, 1)).front());
  out.say(cat("f, o, x -> ", ids_text(fox)));
  const auto garden = tokenizer.encode("the garden");
  std::string pieces;
  for (const std::int32_t id : garden)
    pieces += cat(pieces.empty() ? "'" : " + '", printable(tokenizer.token_bytes(id)), "'");
  out.say(cat("the garden -> ", ids_text(garden), " (", garden.size(), " tokens: ", pieces, ")"));
  const std::size_t corpus_tokens = tokenizer.encode(builtin_corpus()).size();
  out.say(cat("the corpus: ", builtin_corpus().size(), " bytes in ", corpus_tokens, " tokens"));
  out.result({{"demo", "bpe"},
              {"vocab_size", tokenizer.vocab_size()},
              {"merges", merges},
              {"Red", red},
              {"fox", fox},
              {"the garden", garden},
              {"corpus_tokens", corpus_tokens}});
}

}  // namespace llmtool
