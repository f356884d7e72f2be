// `llmtool tokenize train`: a vocabulary from texts. Not here: how it is learned (text/bpe_trainer.h).
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/tokenizer_file.h"
#include "cli/common_flags.h"
#include "cli/late_progress.h"
#include "cli/number_flag.h"
#include "cli/output.h"
#include "cli/tokenize.h"
#include "formats/json.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/corpus.h"

namespace llmtool {

namespace {

struct TrainFlags {
  CommonFlags common;
  std::vector<std::string> inputs;
  std::string out;
  BpeTrainOptions bpe;
};

BpeTraining learned(const TrainFlags& flags, ThreadPool& pool) {
  require_texts(flags.inputs);
  TextSource source(flags.inputs);
  const auto target = static_cast<std::uint64_t>(flags.bpe.vocab_size);
  LateProgress reading("counting", source.total().value_or(0)), merging("merging", target);
  BpeTrainProgress progress;
  progress.counted = [&](std::uint64_t bytes) { reading.update(bytes, cat(bytes >> 20, " MiB")); };
  progress.merged = [&](std::int64_t tokens, std::int64_t) {
    merging.update(static_cast<std::uint64_t>(tokens), cat(tokens, " tokens"));
  };
  return train_bpe(source, flags.bpe, pool, progress);
}

void run_train(const TrainFlags& flags) {
  flags.common.apply();
  ThreadPool pool(flags.common.thread_count());
  const BpeTraining training = learned(flags, pool);
  const BpeTokenizer tokenizer(training.model);
  write_file_atomic(flags.out, tokenizer_json(tokenizer));
  const std::int64_t reached = tokenizer.vocab_size();
  if (reached < flags.bpe.vocab_size)
    note(cat(
        "only ", reached, " tokens of the ", flags.bpe.vocab_size, " asked for: no pair of tokens is left",
        flags.bpe.min_frequency == 1 ? " to merge"
                                     : cat(" that occurs at least ", flags.bpe.min_frequency, " times")));
  const std::size_t merges = tokenizer.model().merges.size();
  const double bytes_per_token = static_cast<double>(training.bytes) / static_cast<double>(training.tokens);
  if (flags.common.json)
    print_line(to_json_line(Json{{"vocab_size", reached},
                                 {"merges", merges},
                                 {"bytes", training.bytes},
                                 {"tokens", training.tokens},
                                 {"bytes_per_token", bytes_per_token},
                                 {"out", flags.out}}));
  else if (flags.out != "-")
    print_line(cat(flags.out, ": ", reached, " tokens (", merges, merges == 1 ? " merge), " : " merges), ",
                   fixed(bytes_per_token, 3), " bytes per token on its own text"));
}

}  // namespace

void add_tokenize_train(CLI::App& tokenize) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* train = tokenize.add_subcommand("train", "learn a byte-level BPE vocabulary from texts");
  train->add_option("--input", flags->inputs, "text files or folders (- is stdin)")
      ->type_name("FILE")
      ->required();
  add_integer(*train, "--vocab-size", "N", flags->bpe.vocab_size, "tokens in all, the 256 bytes included")
      ->required();
  train
      ->add_option("--pretokenizer", flags->bpe.pretokenizer,
                   "how text is split before merging: none, gpt2 or gpt4")
      ->type_name("NAME");
  add_integer(*train, "--min-frequency", "N", flags->bpe.min_frequency,
              "stop when no pair occurs as often (default 1)", 1);
  train
      ->add_option("--special", flags->bpe.specials,
                   "a control token, as <|endoftext|> (may be given several times)")
      ->type_name("TOKEN")
      ->take_all()
      ->expected(1);
  train->add_option("--out", flags->out, "the tokenizer.json to write (- is stdout)")
      ->type_name("FILE")
      ->required();
  flags->common.add_threads(*train);
  flags->common.add_output(*train);
  train->callback([flags] { run_train(*flags); });
}

}  // namespace llmtool
