// Reading the environment; see environment.h.
#include "vulkan/environment.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/error.h"

namespace llmtool::vulkan {
namespace {

std::uint64_t number(const char* name, std::uint64_t low, std::uint64_t high) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view view(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc() || end != view.data() + view.size() || value < low || value > high) {
    throw request_error(
        cat("environment variable ", name, "='", view, "' is not a whole number from ", low, " to ", high));
  }
  return value;
}

std::uint32_t small(const char* name, std::uint32_t low) {
  return static_cast<std::uint32_t>(number(name, low, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

Environment read_environment() {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  Environment e;
  e.max_range = number("LLMTOOL_VK_MAX_RANGE", 1024, most);
  e.max_shared = small("LLMTOOL_VK_MAX_SHARED", 16384);
  e.max_invocations = small("LLMTOOL_VK_MAX_INVOCATIONS", 128);
  e.max_memory = number("LLMTOOL_VK_MAX_MEMORY", 1, most);
  e.submit_ms = small("LLMTOOL_VK_SUBMIT_MS", 1);
  e.lose_after = number("LLMTOOL_VK_LOSE_AFTER", 1, most);
  e.validate = number("LLMTOOL_VK_VALIDATE", 0, 1) == 1;
  return e;
}

}  // namespace llmtool::vulkan
