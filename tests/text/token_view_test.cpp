// TokenView: parts of several widths read as one sequence.
#include "text/token_view.h"

#include <cstddef>

#include "support/catch.h"

using namespace llmtool;
using Ids = std::vector<std::int32_t>;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

}  // namespace

TEST_CASE("token view: parts of 16 and 32 bits and of memory are one sequence") {
  const Ids memory = {7, -1};
  const auto narrow = bytes_of({1, 0, 0xFF, 0xFF, 2, 1});            // 1, 65535, 258
  const auto wide = bytes_of({0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F});  // 0, 2^31 - 1
  TokenView view;
  CHECK(view.empty());
  view.append_little_endian(narrow, 2, nullptr);
  view.append(TokenView(memory));
  view.append_little_endian({}, 2, nullptr);
  view.append_little_endian(wide, 4, nullptr);
  const Ids all = {1, 65535, 258, 7, -1, 0, 2147483647};
  REQUIRE(view.size() == 7);
  CHECK(view.ids(0, 7) == all);
  for (std::int64_t begin = 0; begin <= 7; ++begin) {
    CHECK((begin == 7 || view[begin] == all[static_cast<std::size_t>(begin)]));
    for (std::int64_t count = 0; begin + count <= 7; ++count) {
      const Ids expected(all.begin() + begin, all.begin() + begin + count);
      CHECK(view.ids(begin, count) == expected);
      const TokenView part = view.part(begin, count);
      CHECK(part.size() == count);
      CHECK(part.ids(0, count) == expected);
    }
  }
  view.append(view);
  CHECK(view.ids(5, 4) == Ids{0, 2147483647, 1, 65535});
}

TEST_CASE("token view: what owns the ids lives as long as a view of them") {
  TokenView part;
  {
    const TokenView whole = TokenView::owning({1, 2, 3, 4});
    part = whole.part(1, 2);
  }
  CHECK(part.ids(0, 2) == Ids{2, 3});
}
