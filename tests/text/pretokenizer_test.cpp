// Splitting as the published patterns do: worked values, every class of character, and cost.
#include "text/pretokenizer.h"

#include <chrono>

#include "base/rng.h"
#include "base/utf8.h"
#include "support/catch.h"
#include "text/helpers.h"

using namespace llmtool;
using Pieces = std::vector<std::string>;

namespace {

Pieces split(std::string_view text, Split kind) {
  Pieces pieces;
  for (PieceScanner scanner(text, kind); !scanner.done();) pieces.emplace_back(scanner.next());
  return pieces;
}

}  // namespace

TEST_CASE("classes of characters: counts of Unicode 16.0 and borders") {
  const CharClasses& classes = CharClasses::table();
  std::size_t letters = 0, numbers = 0, spaces = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    const CharClass kind = classes.of(c);
    letters += kind == CharClass::letter;
    numbers += kind == CharClass::number;
    spaces += kind == CharClass::space;
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    const ClassedChar decoded = classes.at(text, 0);
    if (decoded.kind != kind || decoded.length != text.size()) FAIL("code point " << std::uint32_t{c});
  }
  CHECK(letters == 141028);
  CHECK(numbers == 1911);
  CHECK(spaces == 25);
  CHECK(classes.of(U'_') == CharClass::other);
  CHECK(classes.of(0xAA) == CharClass::letter);
  CHECK(classes.of(0x2160) == CharClass::number);  // Roman numeral one
  CHECK(classes.of(0x301) == CharClass::other);    // a combining accent
  CHECK(classes.of(0x200B) == CharClass::other);   // zero width space, which is not white space
  for (const char* invalid :
       {"\xFF", "\xC3", "\xC3(", "\xE4\xBD", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x9F"}) {
    CHECK(classes.at(invalid, 0).kind == CharClass::other);
    CHECK(classes.at(invalid, 0).length == 1);
  }
}

TEST_CASE("gpt2 splits") {
  const auto gpt2 = [](std::string_view text) { return split(text, Split::gpt2); };
  CHECK(gpt2("").empty());
  CHECK(gpt2("Hello world, it's 2024!") == Pieces{"Hello", " world", ",", " it", "'s", " 2024", "!"});
  CHECK(gpt2("we'll I'D he'd've 'tis '") ==
        Pieces{"we", "'ll", " I", "'", "D", " he", "'d", "'ve", " '", "tis", " '"});
  CHECK(gpt2("a  b   c\n\n d\t\te") == Pieces{"a", " ", " b", "  ", " c", "\n\n", " d", "\t", "\t", "e"});
  CHECK(gpt2("x \r\n  ") == Pieces{"x", " \r\n  "});
  CHECK(gpt2("abc123 45²") == Pieces{"abc", "123", " 45²"});
  CHECK(gpt2("日本語 テスト。\u3000次") == Pieces{"日本語", " テスト", "。", "\u3000", "次"});
  CHECK(gpt2("e\u0301a") == Pieces{"e", "\u0301", "a"});
  CHECK(gpt2("a\xFF\xE4\xBD b") == Pieces{"a", "\xFF\xE4\xBD", " b"});
}

TEST_CASE("gpt4 splits") {
  const auto gpt4 = [](std::string_view text) { return split(text, Split::gpt4); };
  CHECK(gpt4("").empty());
  CHECK(gpt4("Hello world, it's 20245!") ==
        Pieces{"Hello", " world", ",", " it", "'s", " ", "202", "45", "!"});
  CHECK(gpt4("we'LL I'D '\u017Fa 'x") == Pieces{"we", "'LL", " I", "'D", " '", "\u017Fa", " '", "x"});
  CHECK(gpt4("'\u017Fa") == Pieces{"'\u017F", "a"});
  CHECK(gpt4("x = foo.bar(1);\r\n\n  y") ==
        Pieces{"x", " =", " foo", ".bar", "(", "1", ");\r\n\n", " ", " y"});
  CHECK(gpt4("a \n \n  b\t\tc") == Pieces{"a", " \n \n", " ", " b", "\t", "\tc"});
  CHECK(gpt4("a \n  ") == Pieces{"a", " \n  "});
  CHECK(gpt4("\nabc\n") == Pieces{"\n", "abc", "\n"});
  CHECK(gpt4("你好，世界") == Pieces{"你好", "，世界"});
  CHECK(gpt4("\u0E01\u0E31\u0E1A") == Pieces{"\u0E01", "\u0E31\u0E1A"});  // a mark leads the letters after it
  CHECK(split("a \n  ", Split::gpt4_2023) == Pieces{"a", " \n", "  "});
  CHECK(split("a \n  b", Split::gpt4_2023) == Pieces{"a", " \n", " ", " b"});
}

TEST_CASE("pieces are never empty and join to the text, whatever the bytes") {
  const Stream random(5, "pieces");
  constexpr std::string_view parts[] = {" ",    "'",    "\n",   "\r",           "a", "s", "7", "\t",
                                        "\xFF", "\xC3", "\xA4", "\xE2\x80\xA8", "!"};
  std::uint64_t at = 0;
  for (std::uint64_t round = 0; round < 500; ++round) {
    std::string text;
    for (std::uint64_t i = 0; i < round % 50; ++i) text += parts[random.below(std::size(parts), at++)];
    for (const Split kind : {Split::none, Split::gpt2, Split::gpt4, Split::gpt4_2023}) {
      std::string joined;
      for (const std::string& piece : split(text, kind)) {
        REQUIRE_FALSE(piece.empty());
        joined += piece;
      }
      REQUIRE(joined == text);
    }
  }
}

TEST_CASE("names of splits") {
  CHECK(split_by_name("none") == Split::none);
  CHECK(split_by_name("gpt2") == Split::gpt2);
  CHECK(split_by_name("gpt4") == Split::gpt4);
  CHECK(test::contains(test::error_of([] { split_by_name("gpt5"); }), "request: [bpe] pretokenizer 'gpt5'"));
  CHECK(split("a b", Split::none) == Pieces{"a b"});
}

TEST_CASE("long runs are split in linear time") {
  std::string text(1000000, ' ');
  text += std::string(1000000, '^') + std::string(1000000, '\n') + "x" + std::string(1000000, '\t') + "7";
  const auto begin = std::chrono::steady_clock::now();
  CHECK(split(text, Split::gpt2).size() == 8);
  CHECK(split(text, Split::gpt4).size() == 6);
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 5.0);
}
