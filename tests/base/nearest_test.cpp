// Edit distance and the name that is suggested.
#include "base/nearest.h"

#include "support/catch.h"

using namespace llmtool;

TEST_CASE("edit distance counts insertions, deletions, substitutions and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("max_lr", "mxa_lr") == 1);
  CHECK(edit_distance("ca", "abc") == 3);
  CHECK(edit_distance("Steps", "steps") == 0);
}

TEST_CASE("the nearest name is suggested, and only if it is near") {
  const std::vector<std::string> names = {"steps", "max_lr", "min_lr", "batch_size", "seed"};
  CHECK(nearest("step", names) == "steps");
  CHECK(nearest("maxlr", names) == "max_lr");
  CHECK(nearest("batchsize", names) == "batch_size");
  CHECK(nearest("batch-size", names) == "batch_size");
  CHECK(nearest("temperature", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest("x", {"a", "b"}).empty());
  CHECK(nearest(std::string(100000, 'a'), names).empty());
}
