// How many cores the process may use: the affinity mask, then the CPU quota of its control groups.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/cat.h"
#include "base/threads.h"
#ifdef __linux__
#include <sched.h>
#endif

namespace llmtool {
namespace {

int affinity_cores() {
#ifdef __linux__
  for (int capacity = 1024; capacity <= 1 << 16; capacity *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    const bool known = ::sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(count, 1);
  }
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

#ifdef __linux__
std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// quota/period rounded up; no limit (a large number) if either is missing or not positive.
int quota_cores(std::string_view quota, std::string_view period) {
  const auto number = [](std::string_view text) {
    long long value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const long long q = number(quota), p = number(period);
  constexpr long long none = 1 << 20;
  if (q <= 0 || p <= 0) return static_cast<int>(none);
  return static_cast<int>(std::clamp(q / p + (q % p != 0), 1LL, none));
}

/// The smallest quota of the group at `root + group` and of the groups that hold it.
template <class Quota>
int smallest_on_path(const std::string& root, std::string group, const Quota& quota) {
  int cores = 1 << 20;
  for (;;) {
    cores = std::min(cores, quota(root + group));
    const auto slash = group.rfind('/');
    if (slash == std::string::npos) return cores;
    group.resize(slash);
  }
}

/// A line of /proc/self/cgroup is "id:controllers:/group"; v2 has the id 0 and no controllers.
int cgroup_cores() {
  int cores = 1 << 20;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = cat(',', line.substr(first + 1, second - first - 1), ',');
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") {
      cores = std::min(cores, smallest_on_path("/sys/fs/cgroup", group, [](const std::string& dir) {
                         const std::string limit =
                             first_line(dir + "/cpu.max");  // "max 100000" or "150000 100000"
                         const auto space = limit.find(' ');
                         if (space == std::string::npos) return 1 << 20;
                         return quota_cores(std::string_view(limit).substr(0, space),
                                            std::string_view(limit).substr(space + 1));
                       }));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      for (const char* root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
        cores = std::min(cores, smallest_on_path(root, group, [](const std::string& dir) {
                           return quota_cores(first_line(dir + "/cpu.cfs_quota_us"),
                                              first_line(dir + "/cpu.cfs_period_us"));
                         }));
      }
    }
  }
  return cores;
}
#else
int cgroup_cores() { return 1 << 20; }
#endif

}  // namespace

int available_cores() { return std::max(1, std::min(affinity_cores(), cgroup_cores())); }

}  // namespace llmtool
