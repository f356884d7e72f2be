// Token ids of a run: the same for any number of threads, and kept in the run folder as they are.
#include "train/prepared_data.h"

#include <fstream>

#include "support/catch.h"
#include "support/temp_dir.h"

using namespace llmtool;

TEST_CASE("prepared data: merges are the same for any number of threads, and ids come back from the file") {
  const TempDir dir;
  const std::string file = (dir.path() / "t.txt").string();
  {
    std::ofstream out(file, std::ios::binary);
    for (int i = 0; i < 60000; ++i) out << "low lower " << i % 977 << (i % 7 == 0 ? "\n" : " newest, it's ");
  }
  TrainConfig config;
  config.data.paths = {file};
  config.data.val_fraction = 0.3;
  config.tokenizer.pretokenizer = "gpt4";
  config.tokenizer.vocab_size = 300;
  const PreparedData one = prepare_data(config, nullptr, 1), three = prepare_data(config, nullptr, 3);
  CHECK(one.tokenizer->vocab_size() == 300);
  CHECK(one.tokenizer->fingerprint() == three.tokenizer->fingerprint());
  CHECK(one.fingerprint == three.fingerprint);
  // More ids than are copied at a time.
  REQUIRE(one.dataset.train().size() > 2 * 65536);
  REQUIRE(one.dataset.val().size() > 65536);
  const Path saved = dir.path() / "tokens.safetensors";
  save_tokens(saved, one);
  const PreparedData back = load_tokens(saved, one.tokenizer, config.model.block_size);
  CHECK(back.fingerprint == one.fingerprint);
  const std::int64_t n = one.dataset.train().size();
  CHECK((back.dataset.train().ids(0, n) == one.dataset.train().ids(0, n)));
}
