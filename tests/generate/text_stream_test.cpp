// Stop texts across borders, what is held back, and text that is always valid UTF-8.
#include "generate/text_stream.h"

#include "base/error.h"
#include "base/utf8.h"
#include "support/catch.h"

using namespace llmtool;

namespace {

/// The pieces that came out after each piece that went in, the last one at the end.
std::vector<std::string> pieces(const std::vector<std::string>& in,
                                const std::vector<std::string>& stops = {}) {
  std::vector<std::string> out;
  std::string now;
  TextStream stream(stops, [&](std::string_view piece) { now += piece; });
  for (const std::string& piece : in) {
    now.clear();
    const bool stopped = stream.push(piece);
    out.push_back(now);
    if (stopped) break;
  }
  now.clear();
  stream.finish();
  out.push_back(now);
  return out;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("without stop texts whole characters pass at once") {
  CHECK(pieces({"ab", "c"}) == Strings{"ab", "c", ""});
  CHECK(pieces({"\xE4\xBD", "\xA0x"}) == Strings{"", "\xE4\xBD\xA0x", ""});
}

TEST_CASE("a stop text is found across the borders of tokens and never shown") {
  CHECK(pieces({"one E", "N", "D two"}, {"END"}) == Strings{"one ", "", "", ""});
  CHECK(pieces({"one E", "N", "x"}, {"END"}) == Strings{"one ", "", "ENx", ""});
  CHECK(pieces({"one E", "N"}, {"END"}) == Strings{"one ", "", "EN"});
}

TEST_CASE("of several stop texts the first in the text counts") {
  CHECK(pieces({"a b c"}, {"c", "b"}) == Strings{"a ", ""});
  CHECK(pieces({"aab"}, {"ab"}) == Strings{"a", ""});
  CHECK(pieces({"a", "a", "b"}, {"ab"}) == Strings{"", "a", "", ""});
}

TEST_CASE("after a stop nothing more is taken") {
  TextStream stream({"."}, {});
  CHECK(stream.push("so."));
  CHECK(stream.push("more"));
  stream.finish();
  CHECK(stream.text() == "so");
  CHECK(stream.stopped());
}

TEST_CASE("bytes that are not UTF-8 become U+FFFD, an unfinished end one of them") {
  CHECK(pieces({"a\xFF", "b"}) == Strings{"a\xEF\xBF\xBD", "b", ""});
  CHECK(pieces({"a\xF0\x9F"}) == Strings{"a", "\xEF\xBF\xBD"});
  CHECK(pieces({"\xE4", "z"}) == Strings{"", "\xEF\xBF\xBDz", ""});
  std::string all;
  TextStream stream({}, [&](std::string_view piece) {
    CHECK(is_utf8(piece));
    all += piece;
  });
  for (int byte = 255; byte >= 0; --byte) stream.push(std::string(1, static_cast<char>(byte)));
  stream.finish();
  CHECK(is_utf8(all));
  CHECK(all == stream.text());
}

TEST_CASE("a stop text may begin inside a character's bytes only where it matches bytes") {
  CHECK(pieces({"\xC3", "\xA9!"}, {"\xC3\xA9"}) == Strings{"", "", ""});
}

TEST_CASE("an empty stop text is refused") { CHECK_THROWS_AS(TextStream({""}, {}), Error); }
