// Joining values and printing numbers.
#include "base/cat.h"

#include <limits>

#include "base/error.h"
#include "support/catch.h"

using namespace llmtool;

TEST_CASE("cat joins every kind of value") {
  const std::string s = "str";
  const char* pointer = "ptr";
  CHECK(cat("lit", 'c', s, pointer, std::string_view("view")) == "litcstrptrview");
  CHECK(cat(true, ' ', false) == "true false");
  CHECK(cat(-5, ' ', 18446744073709551615u, ' ', std::numeric_limits<std::int64_t>::min()) ==
        "-5 18446744073709551615 -9223372036854775808");
  CHECK(cat(0.1, ' ', 0.1f, ' ', 1e-5, ' ', 3.0) == "0.1 0.1 1e-05 3");
  CHECK(cat() == "");
}

TEST_CASE("fixed and general print numbers as every locale does not") {
  CHECK(fixed(0.0029466, 6) == "0.002947");
  CHECK(fixed(2.5, 0) == "2");
  CHECK(fixed(-1.005, 1) == "-1.0");
  CHECK(fixed(1e300, 1).size() == 303);
  CHECK(fixed(std::numeric_limits<double>::quiet_NaN(), 2) == "nan");
  CHECK(fixed(-std::numeric_limits<double>::infinity(), 2) == "-inf");
  CHECK(general(1.0 / 3) == "0.3333333333333333");
  CHECK(general(1.0f / 3) == "0.33333334");
}

TEST_CASE("a failed check names the expression, the place and the values") {
  const int a = 2;
  std::string text;
  try {
    LLMTOOL_CHECK(a == 3, "a ", a);
  } catch (const InternalError& e) {
    text = e.what();
  }
  CHECK(text.find("check 'a == 3' failed at ") == 0);
  CHECK(text.find(": a 2") != std::string::npos);
  CHECK_NOTHROW([&] { LLMTOOL_CHECK(a == 2); }());
}

TEST_CASE("errors carry kind and hint") {
  const Error e = request_error("what", "hint");
  CHECK(e.kind() == ErrorKind::request);
  CHECK(std::string(e.what()) == "what");
  CHECK(e.hint() == "hint");
  CHECK(world_error("x").kind() == ErrorKind::world);
}
