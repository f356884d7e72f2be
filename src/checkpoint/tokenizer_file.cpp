// load_tokenizer(): where the file lies.
#include "checkpoint/tokenizer_file.h"

#include "base/error.h"
#include "checkpoint/model_dir.h"

namespace llmtool {

std::unique_ptr<Tokenizer> load_tokenizer(const Path& path) {
  constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;
  std::error_code ignored;
  const auto exists = [&](const Path& file) { return std::filesystem::exists(file, ignored); };
  Path file = path;
  if (std::filesystem::is_directory(path, ignored)) {
    file = path / "tokenizer.json";
    if (!exists(file)) {
      const bool gpt2 = exists(path / "vocab.json") && exists(path / "merges.txt");
      file = gpt2 ? path / "vocab.json" : resolve_model_dir(path) / "tokenizer.json";
    }
  }
  if (file.extension() == ".tiktoken")
    return parse_tiktoken_ranks(read_file(file, max_bytes), printable(file.native()));
  if (file.filename() == "vocab.json") {
    const Path merges = file.parent_path() / "merges.txt";
    return parse_gpt2_vocabulary(read_file(file, max_bytes), printable(file.native()),
                                 read_file(merges, max_bytes), printable(merges.native()));
  }
  return parse_tokenizer_json(read_file(file, max_bytes), printable(file.native()));
}

}  // namespace llmtool
