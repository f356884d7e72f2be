// What memory the machine and its control groups leave; see memory.h.
#include "base/memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace llmtool {
namespace {

constexpr std::uint64_t unknown = ~std::uint64_t{0};

std::string content(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

/// The number after `key` (which starts a line) in text, or the one that text starts with if key is empty.
std::uint64_t number_after(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size() && text.substr(at, key.size()) != key) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  if (at >= text.size()) return unknown;
  at = text.find_first_not_of(" \t", at + key.size());
  if (at == std::string_view::npos) return unknown;
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return result.ec == std::errc() ? value : unknown;
}

/// What one cgroup directory leaves: its limit less its use, page cache that can be dropped not counted as
/// use.
std::uint64_t left_in(const std::string& dir, const char* limit_name, const char* use_name,
                      const char* cache_key) {
  const std::uint64_t limit = number_after(content(dir + limit_name), "");
  const std::uint64_t use = number_after(content(dir + use_name), "");
  if (limit == unknown || use == unknown) return unknown;
  const std::uint64_t cache = number_after(content(dir + "memory.stat"), cache_key);
  const std::uint64_t firm = cache == unknown ? use : use - std::min(use, cache);
  return limit - std::min(limit, firm);
}

/// The least over a cgroup and those above it.
std::uint64_t left_in_tree(const std::string& root, std::string path, const char* limit_name,
                           const char* use_name, const char* cache_key) {
  std::uint64_t left = unknown;
  for (;;) {
    const std::string dir = root + path + (path.ends_with('/') ? "" : "/");
    left = std::min(left, left_in(dir, limit_name, use_name, cache_key));
    const std::size_t slash = path.find_last_of('/');
    if (path.size() <= 1 || slash == std::string::npos) return left;
    path = path.substr(0, std::max<std::size_t>(slash, 1));
  }
}

/// The path of this process in the hierarchy whose line of /proc/self/cgroup has `controllers` between its
/// colons.
std::string cgroup_path(std::string_view controllers) {
  std::istringstream lines(content("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (std::string_view(line).substr(first + 1, second - first - 1) == controllers)
      return line.substr(second + 1);
  }
  return "/";
}

}  // namespace

std::uint64_t available_memory() {
  const std::uint64_t kib = number_after(content("/proc/meminfo"), "MemAvailable:");
  const std::uint64_t system = kib == unknown ? unknown : kib * 1024;
  const std::uint64_t v2 =
      left_in_tree("/sys/fs/cgroup", cgroup_path(""), "memory.max", "memory.current", "inactive_file ");
  const std::uint64_t v1 =
      left_in_tree("/sys/fs/cgroup/memory", cgroup_path("memory"), "memory.limit_in_bytes",
                   "memory.usage_in_bytes", "total_inactive_file ");
  return std::min({system, v1, v2});
}

}  // namespace llmtool
