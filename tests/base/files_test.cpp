// Reading and writing files, and what happens when that fails.
#include "base/files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "base/error.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using namespace llmtool;

namespace {

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::world);
    return e.what();
  }
  return "no error";
}

int entries(const Path& dir) {
  int n = 0;
  for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(dir)) ++n;
  return n;
}

}  // namespace

TEST_CASE("what is written is what is read") {
  const TempDir dir;
  const Path path = dir.path() / "spaces and \xc3\xbc.txt";
  std::string bytes("a\0b\r\n\xff", 6);
  for (int i = 0; i < 16; ++i) bytes += bytes;
  write_file_atomic(path, bytes);
  CHECK(read_file(path) == bytes);
  CHECK(MappedFile(path).text() == bytes);
  write_file_atomic(path, "short");
  CHECK(read_file(path) == "short");
  write_file_atomic(path, "");
  CHECK(read_file(path).empty());
  CHECK(MappedFile(path).bytes().empty());
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("read_file names the path and the reason") {
  const TempDir dir;
  const Path missing = dir.path() / "missing";
  CHECK(message([&] { read_file(missing); }) ==
        cat("cannot open '", missing.native(), "': No such file or directory"));
  CHECK(message([&] { read_file(dir.path()); }).find("Is a directory") != std::string::npos);
  CHECK(message([&] { MappedFile m(dir.path()); }).find("Is a directory") != std::string::npos);
  CHECK(message([&] { MappedFile m(missing); }).find("No such file") != std::string::npos);
  CHECK(message([&] { MappedFile m("/dev/null"); }).find("not a regular file") != std::string::npos);
  write_file_atomic(missing, "12345");
  CHECK(read_file(missing, 5) == "12345");
  CHECK(message([&] { read_file(missing, 4); }).find("larger than 4 bytes") != std::string::npos);
  CHECK(message([&] { read_file("/dev/zero", 100); }).find("larger than 100 bytes") != std::string::npos);
}

TEST_CASE("what has no end, or does not fit into memory, is an error that names the path") {
  CHECK(message([&] {
          read_file("/dev/zero");
        }).find("'/dev/zero': it is larger than 16777216 bytes (a device") != std::string::npos);
  CHECK(read_file("/dev/null").empty());
  const TempDir dir;
  const Path sparse = dir.path() / "sparse";
  write_file_atomic(sparse, "x");
  std::error_code unsupported;
  std::filesystem::resize_file(sparse, std::uint64_t{1} << 43, unsupported);
  if (unsupported) return;  // a file system without files this large
  const std::string said = message([&] { read_file(sparse); });
  CHECK(said.find(cat("cannot read '", sparse.native(), "': 8796093022209 bytes")) == 0);
  CHECK(said.find("memory") != std::string::npos);
}

TEST_CASE("a failed atomic write leaves the old file and no temporary") {
  const TempDir dir;
  const Path path = dir.path() / "file";
  write_file_atomic(path, "old");
  CHECK(message([&] { write_file_atomic(dir.path() / "no" / "file", "x"); }).find("No such file") !=
        std::string::npos);
  CHECK(message([&] { write_file_atomic(dir.path(), "x"); }).find("Is a directory") != std::string::npos);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = 10;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string text = message([&] { write_file_atomic(path, "more than ten bytes of text"); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(text == cat("cannot write '", path.native(), "': File too large"));
  CHECK(read_file(path) == "old");
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("an atomic write keeps permissions and follows a link") {
  const TempDir dir;
  const Path path = dir.path() / "real", link = dir.path() / "link";
  write_file_atomic(path, "1");
  ::chmod(path.c_str(), 0640);
  std::filesystem::create_symlink("real", link);
  write_file_atomic(link, "2");
  CHECK(read_file(path) == "2");
  CHECK(std::filesystem::is_symlink(link));
  struct stat info {};
  ::stat(path.c_str(), &info);
  CHECK((info.st_mode & 0777) == 0640);
}

TEST_CASE("a full device is an error that names it") {
  if (::access("/dev/full", W_OK) != 0) return;
  CHECK(message([] { write_file_atomic("/dev/full", "x"); }) ==
        "cannot write '/dev/full': No space left on device");
  FileWriter writer("/dev/full");
  CHECK(message([&] { writer.write("x"); }) == "cannot write '/dev/full': No space left on device");
}

TEST_CASE("FileWriter appends what it is given") {
  const TempDir dir;
  const Path path = dir.path() / "out";
  FileWriter writer(path);
  writer.write("ab");
  const std::byte more[] = {std::byte{'c'}, std::byte{0}};
  writer.write(more);
  writer.close();
  writer.close();
  CHECK(read_file(path) == std::string("abc\0", 4));
  CHECK_THROWS_AS(writer.write("x"), InternalError);
  CHECK(message([&] { FileWriter w(dir.path()); }).find("Is a directory") != std::string::npos);
}

TEST_CASE("make_writable_directory creates parents and refuses what it cannot use") {
  const TempDir dir;
  const Path deep = dir.path() / "a" / "b";
  make_writable_directory(deep);
  make_writable_directory(deep);
  CHECK(std::filesystem::is_directory(deep));
  CHECK(entries(deep) == 0);
  const Path file = dir.path() / "file";
  write_file_atomic(file, "");
  CHECK(message([&] { make_writable_directory(file); }).find("it is not a directory") != std::string::npos);
  CHECK(message([&] { make_writable_directory(file / "below"); }).find(file.native()) != std::string::npos);
  CHECK(message([] { make_writable_directory("/proc/llmtool"); }).find("/proc/llmtool") != std::string::npos);
}

TEST_CASE("printable escapes control characters and what is not UTF-8") {
  CHECK(printable("plain \xc3\xbc") == "plain \xc3\xbc");
  CHECK(printable("a\nb\x1b[31m\x7f") == "a\\x0ab\\x1b[31m\\x7f");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");
}
