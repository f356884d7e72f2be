// Bench: encoding with a byte-level BPE vocabulary; see bench.h.
#include <chrono>
#include <cmath>
#include <vector>

#include "base/cat.h"
#include "base/rng.h"
#include "cli/bench.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"

namespace llmtool {
namespace {

/// Sentences of words whose frequencies fall as in natural texts: word r about as 1 / r.
std::string generated_text(std::size_t bytes) {
  const Stream letters(7, "letters"), draws(7, "words");
  std::vector<std::string> words;
  std::uint64_t drawn = 0;
  for (std::size_t w = 0; w < 20000; ++w) {
    std::string word;
    const int length = 2 + static_cast<int>(letters.uniform(drawn++) * 8);
    for (int i = 0; i < length; ++i)
      word += static_cast<char>('a' + static_cast<int>(letters.uniform(drawn++) * 26));
    words.push_back(word);
  }
  std::string text;
  const double top = std::log(static_cast<double>(words.size()));
  for (std::uint64_t i = 0; text.size() < bytes; ++i) {
    const auto rank = static_cast<std::size_t>(std::exp(draws.uniform(i) * top)) - 1;
    text += words[rank];
    text += i % 12 == 11 ? ".\n" : " ";
  }
  return text;
}

}  // namespace

void bench_tokenize(const Bench& bench) {
  const std::string text = generated_text(std::size_t{4} << 20);
  for (const char* pretokenizer : {"gpt4", "none"}) {
    BpeTrainOptions options;
    options.vocab_size = 1024;
    options.pretokenizer = pretokenizer;
    const BpeTokenizer tokenizer(train_bpe(std::string_view(text).substr(0, std::size_t{1} << 18), options));
    const auto start = std::chrono::steady_clock::now();
    const std::size_t tokens = tokenizer.encode(text).size();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double bytes = static_cast<double>(text.size());
    bench.report({"tokenize",
                  cat("bpe of ", tokenizer.vocab_size(), " tokens, pretokenizer ", pretokenizer),
                  1e-6 * bytes / seconds,
                  "MB/s",
                  1e3 * bench.limits.gbytes,
                  bench.limits.of_bytes,
                  cat(fixed(bytes / static_cast<double>(tokens), 2), " bytes per token"),
                  {{"tokens_per_second", static_cast<double>(tokens) / seconds}, {"bytes", text.size()}}});
  }
}

}  // namespace llmtool
