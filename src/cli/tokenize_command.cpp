// `llmtool tokenize encode|decode|inspect`, and the group that train and pack belong to. Not here: the
// tokenizers (text) and their files (checkpoint).
#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "checkpoint/model_dir.h"
#include "checkpoint/tokenizer_file.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/output.h"
#include "cli/tokenize.h"
#include "formats/json.h"
#include "text/bpe_tokenizer.h"
#include "text/bpe_trainer.h"
#include "text/builtin_corpus.h"
#include "text/encode_threads.h"

namespace llmtool {

namespace {

struct TokenizeFlags {
  CommonFlags common;
  std::vector<std::string> ids;
  std::string text, input, tokenizer;
  bool allow_special = false;
};

std::string chosen_text(const TokenizeFlags& flags, const CLI::App& command) {
  if (command.count("text") > 0) return flags.text;
  if (!flags.input.empty()) return read_file(flags.input);
  throw request_error(cat("tokenize ", command.get_name(),
                          ": nothing to work on; give a text, or --input FILE (- is stdin)"));
}

void run_encode(const TokenizeFlags& flags, const CLI::App& command) {
  flags.common.apply();
  const std::string text = chosen_text(flags, command);
  const auto tokenizer = chosen_tokenizer(flags.tokenizer);
  // Only byte-level BPE has control tokens; other vocabularies have nothing to allow.
  const auto* bpe = flags.allow_special ? dynamic_cast<const BpeTokenizer*>(tokenizer.get()) : nullptr;
  ThreadPool pool(flags.common.thread_count());
  const auto ids = bpe != nullptr ? bpe->encode_with_specials(text) : encode_on(pool, *tokenizer, text);
  if (flags.common.json) return print_line(to_json_line(Json{{"ids", ids}}));
  std::string line;
  for (const std::int32_t id : ids) {
    char digits[16];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, id).ptr);
    line += ' ';
  }
  if (!line.empty()) line.pop_back();
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
  print_line(cat(ids.size(), ids.size() == 1 ? " token, " : " tokens, ", text.size(),
                 text.size() == 1 ? " byte, " : " bytes, ", fixed(bytes_per_token, 3), " bytes per token (",
                 tokenizer->type(), ", vocab ", tokenizer->vocab_size(), ")"));
}

void add_source(CLI::App& command, TokenizeFlags& flags) {
  auto* text = command.add_option("text", flags.text, "the text");
  command.add_option("--input", flags.input, "the text from a file (- is stdin)")
      ->type_name("FILE")
      ->excludes(text);
}

void add_tokenizer(CLI::App& command, TokenizeFlags& flags) {
  add_tokenizer_flag(command, flags.tokenizer);
  flags.common.add_output(command);
}

}  // namespace

std::unique_ptr<Tokenizer> chosen_tokenizer(const std::string& named) {
  if (!named.empty()) return load_tokenizer(named);
  const Path run = "runs/default";
  if (std::filesystem::exists(run)) return load_tokenizer(run);
  BpeTrainOptions demo;
  demo.vocab_size = 400;
  return std::make_unique<BpeTokenizer>(train_bpe(builtin_corpus(), demo));
}

void add_tokenizer_flag(CLI::App& command, std::string& named) {
  command
      .add_option(
          "--tokenizer", named,
          "a tokenizer.json, a folder with vocab.json and merges.txt, a .tiktoken file, or a model directory "
          "(default: that of runs/default, else the demo's 400 tokens)")
      ->type_name("T");
}

void add_tokenize_command(CLI::App& app) {
  CLI::App* tokenize = app.add_subcommand("tokenize", "train a tokenizer, encode, decode, pack, inspect");
  tokenize->require_subcommand(1);

  add_tokenize_train(*tokenize);

  auto encode_flags = std::make_shared<TokenizeFlags>();
  CLI::App* encode = tokenize->add_subcommand("encode", "print the token ids of a text");
  add_source(*encode, *encode_flags);
  encode->add_flag("--allow-special", encode_flags->allow_special,
                   "text that spells a control token becomes that token (else it is ordinary text)");
  add_tokenizer(*encode, *encode_flags);
  encode_flags->common.add_threads(*encode);
  encode->callback([encode_flags, encode] { run_encode(*encode_flags, *encode); });

  auto decode_flags = std::make_shared<TokenizeFlags>();
  CLI::App* decode = tokenize->add_subcommand("decode", "restore the bytes of token ids");
  auto* ids = decode->add_option("ids", decode_flags->ids, "token ids");
  decode->add_option("--input", decode_flags->input, "the ids from a file (- is stdin)")
      ->type_name("FILE")
      ->excludes(ids);
  add_tokenizer(*decode, *decode_flags);
  decode->callback([decode_flags] { run_decode(*decode_flags); });

  add_tokenize_pack(*tokenize);

  auto inspect_flags = std::make_shared<TokenizeFlags>();
  CLI::App* inspect = tokenize->add_subcommand("inspect", "show how a text splits");
  add_source(*inspect, *inspect_flags);
  add_tokenizer(*inspect, *inspect_flags);
  inspect->callback([inspect_flags, inspect] { run_inspect(*inspect_flags, *inspect); });
}

}  // namespace llmtool
