// UTF-8: what is a code point and what is not.
#include "base/utf8.h"

#include "base/cat.h"
#include "support/catch.h"

using namespace llmtool;

TEST_CASE("every code point round-trips and nothing else decodes to it") {
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x1000 ? 1 : 37) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string bytes;
    append_utf8(bytes, c);
    const CodePoint back = decode_utf8(bytes);
    REQUIRE(back.value == c);
    REQUIRE(back.length == static_cast<int>(bytes.size()));
    REQUIRE(complete_utf8_prefix(bytes) == bytes.size());
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      REQUIRE(decode_utf8(bytes.substr(0, cut)).length == 0);
      REQUIRE(complete_utf8_prefix(cat("x", bytes.substr(0, cut))) == 1);
    }
  }
}

TEST_CASE("invalid sequences are refused") {
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80", "\xff", "\xe2\x28\xa1", "\xf0\x9f\x28\x80"}) {
    CHECK(decode_utf8(bad).length == 0);
    CHECK_FALSE(is_utf8(bad));
    CHECK(complete_utf8_prefix(bad) == std::string_view(bad).size());
  }
  CHECK(is_utf8("a\xc3\xbc\xe6\x97\xa5\xf0\x9f\xa6\x8a"));
  CHECK(is_utf8(""));
  CHECK(decode_utf8("", 0).length == 0);
  CHECK(decode_utf8("abc", 3).length == 0);
}

TEST_CASE("only a sequence that can still become valid is held back") {
  CHECK(complete_utf8_prefix("ab\xe6\x97") == 2);
  CHECK(complete_utf8_prefix("ab\xe0\x80") == 4);  // no third byte can mend an overlong form
  CHECK(complete_utf8_prefix("ab\xff") == 3);
  CHECK(complete_utf8_prefix("\x80\x80\x80\x80") == 4);
  CHECK(complete_utf8_prefix("") == 0);
}
