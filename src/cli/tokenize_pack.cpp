// `llmtool tokenize pack`: texts to token shards. Not here: their layout (formats/token_shard.h).
#include <CLI/CLI.hpp>

#include "base/directory_lock.h"
#include "base/error.h"
#include "base/files.h"
#include "checkpoint/tokenizer_file.h"
#include "cli/common_flags.h"
#include "cli/late_progress.h"
#include "cli/number_flag.h"
#include "cli/output.h"
#include "cli/tokenize.h"
#include "formats/json.h"
#include "formats/token_shard.h"
#include "text/encode_threads.h"

namespace llmtool {

namespace {

struct PackFlags {
  CommonFlags common;
  std::vector<std::string> inputs;
  std::string out, tokenizer;
  std::int64_t shard_tokens = std::int64_t{1} << 27;
  bool overwrite = false;
};

/// What is in the folder already is not replaced unasked, and a model's tokenizer never.
void require_free(const PackFlags& flags, const std::string& tokenizer_text) {
  const Path out(flags.out), tokenizer = out / "tokenizer.json";
  std::error_code code;
  if (std::filesystem::exists(out / "model.safetensors", code))
    throw world_error(
        cat("'", printable(flags.out), "' holds a model, whose tokenizer.json would be replaced"),
        "name another folder with --out");
  if (flags.overwrite) return;
  for (std::filesystem::directory_iterator it(out, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == token_shard_extension)
      throw world_error(cat("'", printable(flags.out), "' already holds token shards"),
                        "replace them by --overwrite, or name another folder with --out");
  if (std::filesystem::exists(tokenizer, code) && read_file(tokenizer) != tokenizer_text)
    throw world_error(cat("'", printable(flags.out), "' already holds another tokenizer.json"),
                      "replace it by --overwrite, or name another folder with --out");
}

void run_pack(const PackFlags& flags) {
  flags.common.apply();
  const auto tokenizer = chosen_tokenizer(flags.tokenizer);
  const std::string tokenizer_text = tokenizer_json(*tokenizer);
  require_texts(flags.inputs);
  TextSource source(flags.inputs);
  std::error_code left_to_the_writer;  // which says why it cannot
  std::filesystem::create_directories(flags.out, left_to_the_writer);
  const DirectoryLock lock(flags.out, "is being written by another run of tokenize pack");
  require_free(flags, tokenizer_text);
  ThreadPool pool(flags.common.thread_count());
  const std::vector<std::uint32_t> lengths = token_lengths(*tokenizer);
  const auto size = static_cast<std::uint64_t>(tokenizer->vocab_size());
  TokenShardWriter writer(flags.out, tokenizer->fingerprint(), size,
                          static_cast<std::uint64_t>(flags.shard_tokens));
  LateProgress progress("packing", source.total().value_or(0));
  EncodeStream stream(source, *tokenizer, pool);
  for (std::vector<std::int32_t> ids; stream.next(ids);) {
    writer.write(ids, lengths);
    progress.update(source.given(), cat(source.given() >> 20, " MiB | ", writer.count(), " tokens"));
  }
  // The tokenizer between finish() and close(): a run that is killed here leaves earlier shards beside
  // another tokenizer than theirs, which training refuses; nothing else can go wrong between the two.
  writer.finish();
  write_file_atomic(Path(flags.out) / "tokenizer.json", tokenizer_text);
  const std::vector<Path> shards = writer.close();
  const double bytes_per_token =
      writer.count() == 0 ? 0 : static_cast<double>(source.given()) / static_cast<double>(writer.count());
  const std::uint32_t width = token_width(size);
  if (flags.common.json) {
    Json names = Json::array();
    for (const Path& shard : shards) names.push_back(shard.string());
    return print_line(to_json_line(Json{{"tokens", writer.count()},
                                        {"bytes", source.given()},
                                        {"bytes_per_token", bytes_per_token},
                                        {"token_bytes", width},
                                        {"vocab_size", size},
                                        {"out", flags.out},
                                        {"shards", names}}));
  }
  print_line(cat(flags.out, ": ", writer.count(), writer.count() == 1 ? " token of " : " tokens of ",
                 8 * width, " bits in ", shards.size(), shards.size() == 1 ? " shard" : " shards", ", ",
                 source.given(), source.given() == 1 ? " byte of text, " : " bytes of text, ",
                 fixed(bytes_per_token, 3), " bytes per token (", tokenizer->type(), ", vocab ", size, ")"));
}

}  // namespace

void require_texts(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs)
    if (input != "-" && open_token_shards(input))
      throw request_error(cat("--input '", printable(input), "' holds token shards: expected text"),
                          "give the texts they were packed from");
}

void add_tokenize_pack(CLI::App& tokenize) {
  auto flags = std::make_shared<PackFlags>();
  CLI::App* pack = tokenize.add_subcommand("pack", "write texts as token shards for train --data");
  pack->add_option("--input", flags->inputs, "text files or folders, joined in order (- is stdin)")
      ->type_name("FILE")
      ->required();
  pack->add_option("--out", flags->out, "the folder to write shards and tokenizer.json into")
      ->type_name("DIR")
      ->required();
  add_integer(*pack, "--shard-tokens", "N", flags->shard_tokens,
              "tokens in a file at most (default 134217728)", 1);
  pack->add_flag("--overwrite", flags->overwrite, "replace the shards that are in the folder");
  add_tokenizer_flag(*pack, flags->tokenizer);
  flags->common.add_threads(*pack);
  flags->common.add_output(*pack);
  pack->callback([flags] { run_pack(*flags); });
}

}  // namespace llmtool
