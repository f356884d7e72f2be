// load_tokenizer(): where the file lies.
#include "checkpoint/tokenizer_file.h"

#include "base/error.h"
#include "checkpoint/model_dir.h"

namespace llmtool {

std::unique_ptr<Tokenizer> load_tokenizer(const Path& path) {
  std::error_code ignored;
  Path file = path;
  if (std::filesystem::is_directory(path, ignored)) {
    file = path / "tokenizer.json";
    if (!std::filesystem::exists(file, ignored)) file = resolve_model_dir(path) / "tokenizer.json";
  }
  constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;
  return parse_tokenizer_json(read_file(file, max_bytes), printable(file.native()));
}

}  // namespace llmtool
