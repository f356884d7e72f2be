// The reader of token shards on any bytes: an Error, or ids that are all inside the vocabulary.
#include <unistd.h>

#include "base/error.h"
#include "bytes.h"
#include "formats/token_shard.h"
#include "text/token_view.h"

using namespace llmtool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Path path =
      std::filesystem::temp_directory_path() / cat("llmtool-fuzz-", ::getpid(), ".tokens");
  {
    FileWriter file(path);
    file.write(std::string_view(reinterpret_cast<const char*>(data), size));
  }
  try {
    for (const bool checked : {false, true}) {
      const TokenShard shard(path);
      if (checked) {
        try {
          shard.check_ids();
        } catch (const Error&) {
          continue;  // ids damaged, header sound
        }
      }
      TokenView view;
      view.append_little_endian(shard.ids(), shard.header().width, shard.file());
      require(static_cast<std::uint64_t>(view.size()) == shard.header().count);
      const auto ids = view.ids(0, view.size());
      for (const std::int32_t id : ids)
        require(!checked || (id >= 0 && static_cast<std::uint64_t>(id) < shard.header().vocab_size));
    }
  } catch (const Error& error) {
    require(std::string_view(error.what()).find("no token shard") != std::string_view::npos);
  }
  return 0;
}
