// Reading text from files and folders.
#include "text/corpus.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/helpers.h"

using namespace llmtool;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that files can be put into.
struct Scratch {
  TempDir dir;
  fs::path root = dir.path();
  std::string file(const std::string& name, const std::string& content) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name, std::ios::binary) << content;
    return (root / name).string();
  }
};

}  // namespace

TEST_CASE("load_text joins files in the order given, byte for byte") {
  const Scratch scratch;
  const std::string a = scratch.file("a b.txt", "one\r\n"),
                    b = scratch.file("狐.txt", std::string("\0\xff", 2));
  CHECK(load_text({b, a}) == std::string("\0\xffone\r\n", 7));
  CHECK(load_text({a, a}) == "one\r\none\r\n");
  CHECK(load_text({}).empty());
}

TEST_CASE("load_text takes the text files of a folder in the order of their paths") {
  const Scratch scratch;
  scratch.file("d/b.txt", "B");
  scratch.file("d/a/z.txt", "Z");
  scratch.file("d/a.txt", "A");
  scratch.file("d/binary", std::string("x\0y", 3));
  scratch.file("d/empty", "");
  fs::create_directory_symlink(scratch.root / "d", scratch.root / "d" / "circle");
  fs::create_symlink(scratch.root / "nowhere", scratch.root / "d" / "dangling");
  CHECK(load_text({(scratch.root / "d").string()}) == "AZB");
}

TEST_CASE("load_text: what is missing, empty or without text is named") {
  const Scratch scratch;
  const std::string missing = error_of([&] { load_text({(scratch.root / "nope.txt").string()}); });
  CHECK(contains(missing, "world: "));
  CHECK(contains(missing, "nope.txt"));
  const std::string empty = scratch.file("empty.txt", "");
  CHECK(contains(error_of([&] { load_text({empty}); }), "empty.txt is empty"));
  scratch.file("bin/x", std::string("\0", 1));
  const std::string no_text = error_of([&] { load_text({(scratch.root / "bin").string()}); });
  CHECK(contains(no_text, "world: "));
  CHECK(contains(no_text, "holds no text"));
}

TEST_CASE("text source: a FIFO is opened once, so that its writer is not lost", "[threads]") {
  const TempDir dir;
  const std::string fifo = (dir.path() / "f").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  TextSource source({fifo});
  CHECK_FALSE(source.total().has_value());
  std::thread writer([&fifo] { std::ofstream(fifo) << "The fox asked."; });
  std::string text;
  while (source.read(text, 4)) {
  }
  writer.join();
  CHECK(text == "The fox asked.");
}
