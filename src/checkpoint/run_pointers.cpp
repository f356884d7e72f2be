// Names and pointers of checkpoints.
#include "checkpoint/run_pointers.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace llmtool {
namespace {

constexpr std::string_view prefix = "step-";
constexpr std::size_t digits = 8;

}  // namespace

std::string checkpoint_name(std::uint64_t step) {
  const std::string number = cat(step);
  return cat(prefix, std::string(digits - std::min(digits, number.size()), '0'), number);
}

Path checkpoint_dir(const Path& root, std::uint64_t step) {
  return root / "checkpoints" / checkpoint_name(step);
}

std::optional<std::uint64_t> checkpoint_step(std::string_view name) {
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  const std::string_view number = name.substr(prefix.size());
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), step);
  if (error != std::errc() || end != number.data() + number.size() || checkpoint_name(step) != name)
    return std::nullopt;
  return step;
}

std::vector<std::uint64_t> checkpoint_steps(const Path& root) {
  std::vector<std::uint64_t> steps;
  std::error_code code;
  for (std::filesystem::directory_iterator it(root / "checkpoints", code), end; !code && it != end;
       it.increment(code)) {
    if (const auto step = checkpoint_step(it->path().filename().native())) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::optional<Path> read_run_pointer(const Path& root, std::string_view pointer) {
  std::string text;
  try {
    text = read_file(root / pointer, 256);
  } catch (const Error&) {
    return std::nullopt;
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  const auto step = checkpoint_step(text);
  if (!step) return std::nullopt;
  return checkpoint_dir(root, *step);
}

void write_run_pointer(const Path& root, std::string_view pointer, std::uint64_t step) {
  write_file_atomic(root / pointer, checkpoint_name(step) + "\n");
}

}  // namespace llmtool
