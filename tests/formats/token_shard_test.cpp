// Token shards: what was written is read, and nothing in a header is believed.
#include "formats/token_shard.h"

#include <fstream>

#include "base/cat.h"
#include "formats/thrown.h"
#include "formats/token_shard_bytes.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using namespace llmtool;
namespace fs = std::filesystem;

namespace {

std::string text_of(const Path& path) { return read_file(path); }

void write(const Path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::vector<Path> pack(const Path& folder, const std::vector<std::int32_t>& ids, std::uint64_t vocab,
                       std::uint64_t per_shard, std::uint64_t hash = 7) {
  const std::vector<std::uint32_t> lengths(static_cast<std::size_t>(vocab), 3);
  TokenShardWriter writer(folder, hash, vocab, per_shard);
  writer.write(std::span(ids).first(ids.size() / 3), lengths);
  writer.write(std::span(ids).subspan(ids.size() / 3), lengths);
  return writer.close();
}

}  // namespace

TEST_CASE("token shards: written in parts of a size, read in order") {
  const TempDir dir;
  for (const std::uint64_t vocab : {300u, 65536u, 65537u}) {
    const std::uint32_t width = vocab == 65537 ? 4 : 2;
    CHECK(token_width(vocab) == width);
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < 1000; ++i) ids.push_back(static_cast<std::int32_t>((i * i * 77) % vocab));
    ids[5] = static_cast<std::int32_t>(vocab) - 1;
    const auto names = pack(dir.path(), ids, vocab, 300);
    REQUIRE(names.size() == 4);
    CHECK(names[3].filename() == "shard-00003.tokens");
    CHECK(fs::file_size(names[0]) == 72 + 300 * width);
    const auto shards = open_token_shards(dir.path());
    REQUIRE(shards.has_value());
    REQUIRE(shards->size() == 4);
    std::size_t at = 0;
    for (const TokenShard& shard : *shards) {
      shard.check_ids();
      shard.check_ids(std::vector<std::uint32_t>(vocab, 3));
      CHECK(contains(thrown([&] { shard.check_ids(std::vector<std::uint32_t>(vocab, 2)); }),
                     cat("the header says ", 3 * shard.header().count, " bytes of text, its ids stand for ",
                         2 * shard.header().count)));
      CHECK(shard.header().vocab_size == vocab);
      CHECK(shard.header().vocab_hash == 7);
      CHECK(shard.header().text_bytes == 3 * shard.header().count);
      for (std::size_t i = 0; i < shard.header().count; ++i, ++at) {
        const auto id = width == 2 ? token_shard::number_at<std::uint16_t>(shard.ids(), 2 * i)
                                   : token_shard::number_at<std::uint32_t>(shard.ids(), 4 * i);
        if (std::cmp_not_equal(id, ids[at])) FAIL("id " << at);
      }
    }
    CHECK(at == 1000);
  }
  // A shorter set leaves nothing of the longer one before it, and nothing temporary.
  pack(dir.path(), {1, 2, 3}, 300, 10);
  CHECK(open_token_shards(dir.path())->size() == 1);
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()) == 1);
  CHECK(open_token_shards(dir.path() / "shard-00000.tokens")->size() == 1);
  const TempDir other;
  CHECK_FALSE(open_token_shards(other.path()).has_value());
  {
    TokenShardWriter left(other.path(), 1, 300, 2);
    left.write(std::vector<std::int32_t>{1, 2, 3}, std::vector<std::uint32_t>(300, 1));
  }
  CHECK(fs::is_empty(other.path()));
}

TEST_CASE("token shards: a header is hostile until checked") {
  const TempDir dir;
  const Path path = pack(dir.path(), {1, 2, 299}, 300, 10).front();
  const std::string good = text_of(path);
  const auto refused = [&](std::size_t at, const std::string& bytes) {
    std::string bad = good;
    bad.replace(at, bytes.size(), bytes);
    write(path, bad);
    return thrown([&] {
      const TokenShard shard(path);
      shard.check_ids();
    });
  };
  const std::string eight_ff(8, '\xFF');
  CHECK(contains(refused(0, "LLMTOKEN"), "begin with"));
  CHECK(contains(refused(8, std::string("\1\0\0\0", 4)),
                 "version 1 of the layout, this program reads version 2: pack the text again"));
  const std::string newer = refused(8, std::string("\3\0\0\0", 4));
  CHECK(contains(newer, "version 3 of the layout, this program reads version 2"));
  CHECK_FALSE(contains(newer, "pack"));
  for (const char* width : {"\0\0\0\0", "\3\0\0\0", "\4\0\0\0", "\xFF\xFF\xFF\xFF"})
    CHECK(contains(refused(12, std::string(width, 4)), "bytes"));
  CHECK(contains(refused(24, std::string(8, '\0')), "vocabulary of 0"));
  CHECK(contains(refused(24, eight_ff), "vocabulary of 18446744073709551615"));
  CHECK(contains(refused(24, std::string("\x2B\1", 2)), "token id 299"));  // 299 tokens
  for (const std::string& count : {std::string("\2"), std::string("\4"), std::string(8, '\0'), eight_ff})
    CHECK(contains(refused(32, count), "the header says"));
  // 2^63 ids of two bytes: their number of bytes is 0 in 64 bits.
  CHECK(contains(refused(32, std::string("\0\0\0\0\0\0\0\x80", 8)), "the header says"));
  CHECK(contains(refused(40, "x"), "checksum"));
  CHECK(contains(refused(48, "\1"), "shard number 1"));
  CHECK(contains(refused(52, std::string(4, '\0')), "of 0"));
  // Three ids of at most 2^16 bytes of text each.
  CHECK(contains(refused(56, std::string("\1\0\3\0\0\0\0\0", 8)), "3 ids cannot stand for 196609 bytes"));
  CHECK(contains(refused(56, eight_ff), "cannot stand for"));
  CHECK(contains(refused(74, "\3"), "checksum"));
  CHECK(contains(refused(74, "\xFF\xFF"), "token id 65535"));
  for (const std::size_t size : {0u, 8u, 71u, 77u}) {
    write(path, good.substr(0, size));
    CHECK(contains(thrown([&] { TokenShard shard(path); }), "no token shard"));
  }
  write(path, good + "x");
  CHECK(contains(thrown([&] { TokenShard shard(path); }), "the header says"));
}

TEST_CASE("token shards: a set is whole and of one kind") {
  const TempDir dir, other;
  const auto names = pack(dir.path(), {1, 2, 3, 4, 5}, 300, 2);
  pack(other.path(), {1, 2, 3, 4, 5}, 300, 2, 8);
  const std::string second = text_of(names[1]);
  fs::remove(names[1]);
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "shard number 1 (from 0) of 3 is missing"));
  write(names[1], text_of(names[2]));
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "number 1"));
  write(names[1], text_of(other.path() / names[1].filename()));
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "another set"));
  write(names[1], second);
  fs::remove(names[2]);
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "shard number 2 (from 0) of 3 is missing"));
}

TEST_CASE("token shards: the hash of the set tells packings of equal counts apart") {
  const TempDir dir, other, same;
  const auto names = pack(dir.path(), {1, 2, 3, 4, 5}, 300, 2);
  pack(other.path(), {1, 2, 3, 4, 6}, 300, 2);
  pack(same.path(), {1, 2, 3, 4, 5}, 300, 2);
  for (const Path& name : names) CHECK(text_of(name) == text_of(same.path() / name.filename()));
  const auto refused = [&] { return thrown([&] { open_token_shards(dir.path()); }); };
  const std::string first = text_of(names[0]);
  write(names[0], text_of(other.path() / names[0].filename()));
  CHECK(contains(refused(), "another set"));
  // A header that was changed, the hash along with it or not.
  for (const std::size_t at : {40u, 56u}) {
    std::string bytes = first;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write(names[0], bytes);
    CHECK(contains(refused(), "the hash of the set is another"));
  }
  const Path one = pack(other.path(), {1, 2}, 300, 2).front();
  std::string bytes = text_of(one);
  bytes[56] = '\5';  // bytes of text, of 6
  write(one, bytes);
  CHECK(contains(thrown([&] { open_token_shards(one); }), "the hash of the set is another"));
}

TEST_CASE("token shards: what a packing that was killed leaves") {
  const TempDir dir, next;
  const auto names = pack(dir.path(), {1, 2, 3, 4, 5}, 300, 2);
  pack(next.path(), {1, 2, 7}, 300, 2);
  const auto temporary = [&](const char* number) {
    return dir.path() / cat(".shard-", number, ".tokens.tmp");
  };
  // Before any shard has its name: the earlier set is whole.
  write(temporary("00000"), "begun");
  write(temporary("00007"), "begun");
  CHECK(open_token_shards(dir.path())->size() == 3);
  // Among the renames.
  fs::copy_file(next.path() / names[0].filename(), names[0], fs::copy_options::overwrite_existing);
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "another set"));
  fs::copy_file(next.path() / names[1].filename(), names[1], fs::copy_options::overwrite_existing);
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "another set"));
  // The first packing of a folder.
  for (const Path& name : names) fs::remove(name);
  CHECK(contains(thrown([&] { open_token_shards(dir.path()); }), "not finished"));
  // The next one leaves nothing of all that.
  pack(dir.path(), {1, 2, 3}, 300, 10);
  CHECK(open_token_shards(dir.path())->size() == 1);
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()) == 1);
}
