// `llmtool tokenize train|encode|decode|inspect`. Not here: the tokenizers (text) and their files
// (checkpoint).
#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/utf8.h"
#include "checkpoint/model_dir.h"
#include "checkpoint/tokenizer_file.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/number_flag.h"
#include "cli/output.h"
#include "formats/json.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/builtin_corpus.h"
#include "text/corpus.h"

namespace llmtool {

namespace {

struct TokenizeFlags {
  CommonFlags common;
  std::vector<std::string> inputs, ids;
  std::string text, input, out, tokenizer;
  BpeTrainOptions bpe;
  bool allow_special = false;
};

/// The one named; else that of the default run; else the demo's 400 tokens.
std::unique_ptr<Tokenizer> chosen_tokenizer(const std::string& named) {
  if (!named.empty()) return load_tokenizer(named);
  const Path run = "runs/default";
  if (std::filesystem::exists(run)) return load_tokenizer(run);
  BpeTrainOptions demo;
  demo.vocab_size = 400;
  return std::make_unique<BpeTokenizer>(train_bpe(builtin_corpus(), demo));
}

std::string chosen_text(const TokenizeFlags& flags, const CLI::App& command) {
  if (command.count("text") > 0) return flags.text;
  if (!flags.input.empty()) return read_file(flags.input);
  throw request_error(cat("tokenize ", command.get_name(),
                          ": nothing to work on; give a text, or --input FILE (- is stdin)"));
}

void run_train(const TokenizeFlags& flags) {
  flags.common.apply();
  const std::string text = load_text(flags.inputs);
  const BpeTokenizer tokenizer(train_bpe(text, flags.bpe));
  write_file_atomic(flags.out, tokenizer_json(tokenizer));
  const std::int64_t reached = tokenizer.vocab_size();
  if (reached < flags.bpe.vocab_size)
    note(cat("only ", reached, " tokens of the ", flags.bpe.vocab_size,
             " asked for: no pair of tokens is left that occurs ", flags.bpe.min_frequency,
             flags.bpe.min_frequency == 1 ? " time" : " times"));
  const std::size_t tokens = tokenizer.encode(text).size();
  const double bytes_per_token = static_cast<double>(text.size()) / static_cast<double>(tokens);
  if (flags.common.json)
    print_line(to_json_line(Json{{"vocab_size", reached},
                                 {"merges", tokenizer.model().merges.size()},
                                 {"bytes", text.size()},
                                 {"tokens", tokens},
                                 {"bytes_per_token", bytes_per_token},
                                 {"out", flags.out}}));
  else if (flags.out != "-")
    print_line(cat(flags.out, ": ", reached, " tokens (", tokenizer.model().merges.size(), " merges), ",
                   fixed(bytes_per_token, 3), " bytes per token on its own text"));
}

void run_encode(const TokenizeFlags& flags, const CLI::App& command) {
  flags.common.apply();
  const std::string text = chosen_text(flags, command);
  const auto tokenizer = chosen_tokenizer(flags.tokenizer);
  // Only byte-level BPE has control tokens; other vocabularies have nothing to allow.
  const auto* bpe = flags.allow_special ? dynamic_cast<const BpeTokenizer*>(tokenizer.get()) : nullptr;
  const auto ids = bpe != nullptr ? bpe->encode_with_specials(text) : tokenizer->encode(text);
  if (flags.common.json) return print_line(to_json_line(Json{{"ids", ids}}));
  std::string line;
  for (const std::int32_t id : ids) line += cat(line.empty() ? "" : " ", id);
  print_line(line);
}

/// Whole numbers separated by white space, commas or brackets, as `encode` prints them, plain or as JSON.
std::vector<std::int32_t> parse_ids(std::string_view text) {
  constexpr std::string_view between = " \t\r\n,[]";
  std::vector<std::int32_t> ids;
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    std::int32_t id = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), id);
    if (result.ec != std::errc() || result.ptr != word.data() + word.size())
      throw request_error(cat("token id '", word.substr(0, 40), "' is not a whole number"));
    ids.push_back(id);
    at = text.find_first_not_of(between, end);
  }
  return ids;
}

void run_decode(const TokenizeFlags& flags) {
  flags.common.apply();
  std::string words;
  for (const std::string& id : flags.ids) words += id + " ";
  if (flags.ids.empty()) {
    if (flags.input.empty())
      throw request_error("tokenize decode: no token ids; give them, or --input FILE (- is stdin)");
    words = read_file(flags.input);
  }
  const std::string text = chosen_tokenizer(flags.tokenizer)->decode(parse_ids(words));
  if (flags.common.json)
    print_line(to_json_line(Json{{"text", text}}));
  else
    print(text);  // the bytes exactly, no newline added
}

void run_inspect(const TokenizeFlags& flags, const CLI::App& command) {
  flags.common.apply();
  const std::string text = chosen_text(flags, command);
  const auto tokenizer = chosen_tokenizer(flags.tokenizer);
  const auto ids = tokenizer->encode(text);
  const double bytes_per_token =
      ids.empty() ? 0 : static_cast<double>(text.size()) / static_cast<double>(ids.size());
  if (flags.common.json) {
    Json pieces = Json::array();
    for (const std::int32_t id : ids) {
      const std::string bytes = tokenizer->token_bytes(id);
      pieces.push_back(
          {{"id", id}, {"text", is_utf8(bytes) ? bytes : printable(bytes)}, {"bytes", bytes.size()}});
    }
    return print_line(to_json_line(Json{{"tokens", ids.size()},
                                        {"bytes", text.size()},
                                        {"bytes_per_token", bytes_per_token},
                                        {"pieces", pieces}}));
  }
  // Two backgrounds in turn make the borders visible; without colour, bars do.
  const bool color = stdout_color();
  std::string line;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string piece = printable(tokenizer->token_bytes(ids[i]));
    line += color ? cat(i % 2 == 0 ? "\x1b[30;46m" : "\x1b[30;43m", piece, "\x1b[0m") : cat("|", piece);
  }
  print_line(color ? line : line + "|");
  for (const std::int32_t id : ids) {
    const std::string number = cat(id);
    print_line(cat(std::string(number.size() < 7 ? 7 - number.size() : 0, ' '), number, "  ",
                   printable(tokenizer->token_bytes(id))));
  }
  print_line(cat(ids.size(), " tokens, ", text.size(), " bytes, ", fixed(bytes_per_token, 3),
                 " bytes per token (", tokenizer->type(), ", vocab ", tokenizer->vocab_size(), ")"));
}

void add_source(CLI::App& command, TokenizeFlags& flags) {
  auto* text = command.add_option("text", flags.text, "the text");
  command.add_option("--input", flags.input, "the text from a file (- is stdin)")
      ->type_name("FILE")
      ->excludes(text);
}

void add_tokenizer(CLI::App& command, TokenizeFlags& flags) {
  command
      .add_option(
          "--tokenizer", flags.tokenizer,
          "a tokenizer.json, a folder with vocab.json and merges.txt, a .tiktoken file, or a model directory "
          "(default: that of runs/default, else the demo's 400 tokens)")
      ->type_name("T");
  flags.common.add_output(command);
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
  CLI::App* tokenize = app.add_subcommand("tokenize", "train a tokenizer, encode, decode, inspect");
  tokenize->require_subcommand(1);

  auto train_flags = std::make_shared<TokenizeFlags>();
  CLI::App* train = tokenize->add_subcommand("train", "learn a byte-level BPE vocabulary from texts");
  train->add_option("--input", train_flags->inputs, "text files or folders (- is stdin)")
      ->type_name("FILE")
      ->required();
  add_integer(*train, "--vocab-size", "N", train_flags->bpe.vocab_size,
              "tokens in all, the 256 bytes included")
      ->required();
  train
      ->add_option("--pretokenizer", train_flags->bpe.pretokenizer,
                   "how text is split before merging: none, gpt2 or gpt4")
      ->type_name("NAME");
  add_integer(*train, "--min-frequency", "N", train_flags->bpe.min_frequency,
              "stop when no pair occurs as often (default 1)", 1);
  train
      ->add_option("--special", train_flags->bpe.specials,
                   "a control token, as <|endoftext|> (may be given several times)")
      ->type_name("TOKEN")
      ->take_all()
      ->expected(1);
  train->add_option("--out", train_flags->out, "the tokenizer.json to write (- is stdout)")
      ->type_name("FILE")
      ->required();
  train_flags->common.add_output(*train);
  train->callback([train_flags] { run_train(*train_flags); });

  auto encode_flags = std::make_shared<TokenizeFlags>();
  CLI::App* encode = tokenize->add_subcommand("encode", "print the token ids of a text");
  add_source(*encode, *encode_flags);
  encode->add_flag("--allow-special", encode_flags->allow_special,
                   "text that spells a control token becomes that token (else it is ordinary text)");
  add_tokenizer(*encode, *encode_flags);
  encode->callback([encode_flags, encode] { run_encode(*encode_flags, *encode); });

  auto decode_flags = std::make_shared<TokenizeFlags>();
  CLI::App* decode = tokenize->add_subcommand("decode", "restore the bytes of token ids");
  auto* ids = decode->add_option("ids", decode_flags->ids, "token ids");
  decode->add_option("--input", decode_flags->input, "the ids from a file (- is stdin)")
      ->type_name("FILE")
      ->excludes(ids);
  add_tokenizer(*decode, *decode_flags);
  decode->callback([decode_flags] { run_decode(*decode_flags); });

  auto inspect_flags = std::make_shared<TokenizeFlags>();
  CLI::App* inspect = tokenize->add_subcommand("inspect", "show how a text splits");
  add_source(*inspect, *inspect_flags);
  add_tokenizer(*inspect, *inspect_flags);
  inspect->callback([inspect_flags, inspect] { run_inspect(*inspect_flags, *inspect); });
}

}  // namespace llmtool
