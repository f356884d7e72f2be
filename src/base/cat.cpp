// Numbers to text by std::to_chars, which knows no locale.
#include "base/cat.h"

#include <cmath>

namespace llmtool {
namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "nan";
  char buffer[512];  // the largest double has 309 digits before the point
  const int decimals = digits < 0 ? 0 : digits > 100 ? 100 : digits;
  return {buffer,
          std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr};
}

std::string general(double value) { return shortest(value); }
std::string general(float value) { return shortest(value); }

}  // namespace llmtool
