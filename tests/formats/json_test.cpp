// Strict JSON: what is read, what is refused, and with which words.
#include "formats/json.h"

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/temp_dir.h"
#include "thrown.h"

using namespace llmtool;

namespace {
std::string refusal(std::string_view text) {
  return thrown([&] { parse_json(text, "f.json"); });
}
}  // namespace

TEST_CASE("a document of every kind is read in its order") {
  const Json j = parse_json(
      R"( {"b": [1, -2, 2.5, 1e3, true, false, null, "\u00fc\ud83e\udd8a\n"], "a": {"x": {}, "y": []}} )",
      "f");
  CHECK(
      to_json_line(j) ==
      "{\"b\":[1,-2,2.5,1000.0,true,false,null,\"\xc3\xbc\xf0\x9f\xa6\x8a\\n\"],\"a\":{\"x\":{},\"y\":[]}}");
  CHECK(j["b"][0].is_number_unsigned());
  CHECK(j["b"][3].is_number_float());
  CHECK(parse_json("18446744073709551615", "f").get<std::uint64_t>() == 18446744073709551615u);
  CHECK(parse_json("-9223372036854775808", "f").get<std::int64_t>() ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(parse_json("0.1", "f").get<double>() == 0.1);
}

TEST_CASE("syntax errors give line and column") {
  CHECK(contains(refusal("{\n  \"a\": 1,\n  \"b\" 2\n}"),
                 "request: f.json: malformed JSON at line 3, column 7: "));
  CHECK(contains(refusal(""), "line 1, column 1: "));
  CHECK(contains(refusal(""), "unexpected end of input"));
  CHECK(contains(refusal("{\"a\": 1"), "unexpected end of input"));
  for (const char* bad :
       {"{\"a\": 1,}", "[1,]", "{a: 1}",  "{'a': 1}", "NaN",          "[Infinity]",  "-Infinity",
        "01",          "+1",   ".5",      "1.",       "{} {}",        "{}x",         "[1 2]",
        "tru",         "\"a",  "\"\\x\"", "\"\xff\"", "\"\xc0\x80\"", "\"\\ud800\"", "\"tab\there\"",
        "]",           "}",    "{\"a\"}", "[1}",      "\xef\xbb"}) {
    INFO(bad);
    const std::string text = refusal(bad);
    CHECK(contains(text, "request: f.json: malformed JSON at line 1, column "));
    CHECK(text.find('\n') == std::string::npos);
    CHECK_FALSE(contains(text, "json.exception"));
  }
  CHECK(contains(refusal("[1e400]"), "the number 1e400 is out of range"));
}

TEST_CASE("comments are refused and named") {
  CHECK(contains(refusal("{ // note\n}"), "(comments are not JSON)"));
  CHECK(contains(refusal("/* note */ {}"), "(comments are not JSON)"));
}

TEST_CASE("duplicate keys are refused with their path") {
  CHECK(refusal(R"({"a": 1, "a": 1})") == "request: f.json: duplicate key a");
  CHECK(refusal(R"({"train": {"lr": 1, "lr": 2}})") == "request: f.json: duplicate key train.lr");
  CHECK(refusal(R"({"d": [0, {"x": 1, "\u0078": 2}]})") == "request: f.json: duplicate key d[1].x");
  CHECK(refusal(R"({"a": {"a": 1}, "b": {"a": 1}})") == "nothing thrown");
}

TEST_CASE("nesting is limited, without recursion") {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  CHECK(refusal(nested(64)) == "nothing thrown");
  CHECK(contains(refusal(nested(65)), "nested deeper than 64 levels"));
  CHECK(contains(refusal(std::string(100000, '[')), "nested deeper than 64 levels"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(contains(refusal(objects), "nested deeper than 64 levels at a.a.a"));
}

TEST_CASE("the error kind and the size limit are the caller's") {
  CHECK(contains(thrown([] { parse_json("{", "f", ErrorKind::world); }), "world: f: "));
  CHECK(thrown([] { parse_json("[1, 2]", "f", ErrorKind::world, 5); }) ==
        "world: f: 6 bytes of JSON; at most 5 are read");
}

TEST_CASE("every truncation and every changed byte is an error or a document") {
  const std::string good = R"({"a": [1, -2.5e3, "x\u00e9"], "b": {"c": null, "d": true}})";
  for (std::size_t i = 0; i < good.size(); ++i) {
    CHECK(contains(refusal(good.substr(0, i)), "malformed JSON"));
    for (const char c : {'\0', '"', '{', '}', '[', ',', '\\', '\xff', '9', '-'}) {
      std::string changed = good;
      changed[i] = c;
      const std::string text = refusal(changed);
      CHECK((text == "nothing thrown" || contains(text, "request: f.json: ")));
    }
  }
}

TEST_CASE("a large object is read in linear time") {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) text += cat(i == 0 ? "" : ",", "\"k", i, "\":", i);
  text += "}";
  CHECK(parse_json(text, "f").size() == 100000);
}

TEST_CASE("writing never throws on bytes that are not UTF-8") {
  CHECK(to_json_line(Json("a\xff")) == "\"a\xef\xbf\xbd\"");
  CHECK(to_json_line(Json(std::nan(""))) == "null");
  CHECK(to_json_text(Json{{"a", 1}}) == "{\n  \"a\": 1\n}\n");
}

TEST_CASE("files are named in errors") {
  const TempDir dir;
  const Path path = dir.path() / "c.json";
  CHECK(contains(thrown([&] { read_json_file(path); }), "world: cannot open"));
  write_file_atomic(path, "{\"a\": 01}");
  CHECK(contains(thrown([&] { read_json_file(path); }),
                 cat("request: ", path.native(), ": malformed JSON at line 1")));
  write_file_atomic(path, "{\"a\": 1}");
  CHECK(read_json_file(path)["a"] == 1);
}

TEST_CASE("excerpts are short and printable") {
  CHECK(json_excerpt(Json("a\nb")) == "\"a\\nb\"");
  CHECK(json_excerpt(Json(std::string(1000, 'x'))).size() < 80);
  CHECK(json_excerpt(Json::array({1, 2})) == "an array");
  CHECK(json_excerpt(Json(2.5)) == "2.5");
}
