// safetensors: round trips, and files that lie.
#include "formats/safetensors.h"

#include <cstring>
#include <fstream>

#include "formats/json.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "thrown.h"

using namespace llmtool;

namespace {

std::span<const std::byte> as_bytes(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

/// A file of this header and this many data bytes.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return out + header + std::string(data_bytes, 'd');
}

struct Fixture {
  TempDir dir;
  Path path = dir.path() / "m.safetensors";

  std::string refusal(const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;  // not flushed to disk: there are thousands
    return thrown([&] { SafetensorsFile file(path); });
  }
  std::string refusal(const std::string& header, std::size_t data_bytes) {
    return refusal(file_of(header, data_bytes));
  }
  std::string write_example(std::map<std::string, std::string> metadata) {
    SafetensorsWriter writer(path, std::move(metadata));
    writer.declare("b.weight", "F32", {2, 3});
    writer.declare("empty", "F32", {0, 5});
    writer.declare("a", "I32", {});
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    writer.append("b.weight", as_bytes(values).first(4));
    writer.append("b.weight", as_bytes(values).subspan(4));
    writer.append("empty", {});
    const std::int32_t scalar[] = {7};
    writer.append("a", std::as_bytes(std::span(scalar)));
    writer.close();
    return read_file(path);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "what is written is what is read") {
  const std::string bytes = write_example({{"z", "1"}, {"format", "llmtool-1"}});
  const std::string header = R"({"__metadata__":{"format":"llmtool-1","z":"1"},)"
                             R"("b.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                             R"("empty":{"dtype":"F32","shape":[0,5],"data_offsets":[24,24]},)"
                             R"("a":{"dtype":"I32","shape":[],"data_offsets":[24,28]}})";
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  CHECK(bytes.substr(8, header.size()) == header);
  CHECK(bytes.substr(8 + header.size(), padded - header.size()).find_first_not_of(' ') == std::string::npos);
  CHECK(bytes.size() == 8 + padded + 28);
  const SafetensorsFile file(path);
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "llmtool-1"}, {"z", "1"}});
  CHECK(file.names() == std::vector<std::string>{"b.weight", "empty", "a"});
  const TensorInfo* b = file.find("b.weight");
  REQUIRE(b != nullptr);
  CHECK(b->dtype == "F32");
  CHECK(b->shape == std::vector<std::int64_t>{2, 3});
  CHECK(b->elements() == 6);
  float values[6];
  REQUIRE(file.data(*b).size() == sizeof values);
  std::memcpy(values, file.data(*b).data(), sizeof values);
  CHECK(values[0] == 1);
  CHECK(values[5] == 6);
  CHECK(reinterpret_cast<std::uintptr_t>(file.data(*b).data()) % 8 == 0);
  CHECK(file.find("empty")->elements() == 0);
  CHECK(file.data(*file.find("empty")).empty());
  CHECK(file.find("a")->elements() == 1);
  CHECK(file.find("c") == nullptr);
  CHECK(write_example({{"format", "llmtool-1"}, {"z", "1"}}) == bytes);
}

TEST_CASE_METHOD(Fixture, "every truncation is an error, every changed byte an error or a file") {
  const std::string bytes = write_example({{"format", "llmtool-1"}});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(contains(refusal(bytes.substr(0, i)), "world: "));
  }
  CHECK(contains(refusal(cat(bytes, "x")), "belong to none"));
  for (std::size_t i = 0; i < bytes.size(); i += 1) {
    for (const int flip : {1, 0x80}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      const std::string text = refusal(changed);
      CHECK((text == "nothing thrown" || contains(text, cat("world: ", path.native()))));
    }
  }
}

TEST_CASE_METHOD(Fixture, "a header length that lies is refused before anything is allocated") {
  CHECK(contains(refusal(std::string()), "0 bytes are too few"));
  CHECK(contains(refusal(std::string(8, '\xff')), "18446744073709551615 bytes in a file of 8"));
  CHECK(contains(refusal(std::string("\x09\0\0\0\0\0\0\0{}", 10)), "9 bytes in a file of 10"));
  CHECK(contains(refusal(std::string("\0\0\0\0\0\0\0\0", 8)), "no JSON object"));
  CHECK(contains(refusal(file_of("[]", 0)), "no JSON object"));
  CHECK(contains(refusal(file_of("{}", 0)), "nothing thrown"));
  CHECK(contains(refusal(file_of("{}", 1)), "1 bytes after the last tensor"));
  CHECK(contains(refusal(file_of(cat("{\"a\":", std::string(100000, '[')), 0)), "nested deeper than 64"));
}

TEST_CASE_METHOD(Fixture, "entries that do not fit are refused with the reason") {
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return cat(R"({"dtype":")", dtype, R"(","shape":)", shape, R"(,"data_offsets":)", offsets, "}");
  };
  const auto one = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return refusal(cat(R"({"t":)", entry(dtype, shape, offsets), "}"), 16);
  };
  CHECK(one("F32", "[4]", "[0,16]") == "nothing thrown");
  CHECK(one("BF16", "[2,4]", "[0,16]") == "nothing thrown");
  CHECK(one("F64", "[2]", "[0,16]") == "nothing thrown");
  CHECK(contains(one("F33", "[4]", "[0,16]"), "tensor 't' has the unknown dtype \"F33\""));
  CHECK(contains(one("F32", "[5]", "[0,16]"), "has 16 bytes where its shape and dtype need 20"));
  CHECK(contains(one("F32", "[5]", "[0,20]"), "ends at byte 20 of 16"));
  CHECK(contains(one("F32", "[4]", "[16,0]"), "is not a begin and an end"));
  CHECK(contains(one("F32", "[4]", "[0]"), "is not a begin and an end"));
  CHECK(contains(one("F32", "[4]", "[-16,0]"), "holds -16, not a size"));
  CHECK(contains(one("F32", "[4.0]", "[0,16]"), "holds 4.0, not a size"));
  CHECK(contains(one("F32", "4", "[0,16]"), "shape is 4, not a list"));
  CHECK(contains(one("F32", "[4294967296,4294967296]", "[0,16]"), "a shape that overflows"));
  CHECK(contains(one("F32", "[0,4294967296,4294967296]", "[0,0]"), "a shape that overflows"));
  CHECK(contains(one("F32", "[18446744073709551615]", "[0,16]"), "a shape that overflows"));
  CHECK(contains(one("F32", "[3]", "[4,16]"), "leaves a gap"));
  CHECK(contains(one("F32", "[2]", "[0,8]"), "8 bytes after the last tensor"));
  const auto two = [&](const std::string& a, const std::string& b) {
    return refusal(cat(R"({"a":)", a, R"(,"b":)", b, "}"), 16);
  };
  CHECK(two(entry("F32", "[2]", "[8,16]"), entry("F32", "[2]", "[0,8]")) == "nothing thrown");
  CHECK(contains(two(entry("F32", "[3]", "[0,12]"), entry("F32", "[2]", "[8,16]")), "overlaps"));
  CHECK(contains(two(entry("F32", "[1]", "[0,4]"), entry("F32", "[2]", "[8,16]")), "leaves a gap"));
  CHECK(contains(
      refusal(cat(R"({"t":)", entry("F32", "[2]", "[0,8]"), R"(,"t":)", entry("F32", "[2]", "[8,16]"), "}"),
              16),
      "duplicate key t"));
  CHECK(contains(refusal(R"({"t":3})", 0), "tensor 't' is 3, not an object"));
  CHECK(contains(refusal(R"({"t":{"dtype":"F32","shape":[0]}})", 0), "has no data_offsets"));
  CHECK(contains(refusal(cat(R"({"":)", entry("F32", "[4]", "[0,16]"), "}"), 16),
                 "'' is not a usable tensor name"));
  CHECK(contains(refusal(cat(R"({"a\nb":)", entry("F32", "[4]", "[0,16]"), "}"), 16),
                 "'a\\x0ab' is not a usable"));
  CHECK(contains(refusal(R"({"__metadata__":{"a":1}})", 0), "is 1, not a string"));
  CHECK(contains(refusal(R"({"__metadata__":[]})", 0), "__metadata__ is an array"));
}

TEST_CASE_METHOD(Fixture, "wrong calls of the writer are found") {
  SafetensorsWriter writer(path, {});
  writer.declare("a", "F32", {2});
  CHECK_THROWS_AS(writer.declare("a", "F32", {2}), InternalError);
  CHECK_THROWS_AS(writer.declare("b", "F99", {2}), InternalError);
  const std::vector<float> three = {1, 2, 3};
  CHECK_THROWS_AS(writer.append("b", as_bytes(three)), InternalError);
  CHECK_THROWS_AS(writer.append("a", as_bytes(three)), InternalError);
  CHECK_THROWS_AS(writer.declare("c", "F32", {2}), InternalError);
  CHECK_THROWS_AS(writer.close(), InternalError);
}

TEST_CASE("a full disk is an error of the writer") {
  const std::string text = thrown([] {
    SafetensorsWriter writer("/dev/full", {});
    writer.declare("a", "F32", {1});
    writer.append("a", as_bytes({1.0f}));
    writer.close();
  });
  CHECK((contains(text, "No space left on device") || contains(text, "/dev/full")));
}
