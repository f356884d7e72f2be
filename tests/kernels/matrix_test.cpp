// The kernel matrix: every kernel of kernels.def, on every device that computes, against the reference
// device.
#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "base/cat.h"
#include "cpu/simd_level.h"
#include "kernels/cpu_at_level.h"
#include "kernels/run.h"
#include "ref/reference_device.h"
#include "support/catch.h"

using namespace llmtool;
using namespace llmtool::kernel_test;

namespace {

/// One section per kernel; the first failures of each are shown.
void run_matrix(Device& device) {
  for (int k = 0; k < kernel_count; ++k) {
    const KernelId id = static_cast<KernelId>(k);
    DYNAMIC_SECTION(kernel_info(id).name) {
      const auto failures = failures_of(device, id);
      for (std::size_t i = 0; i < failures.size() && i < 4; ++i) UNSCOPED_INFO(failures[i]);
      CHECK(failures.size() == 0);
    }
  }
}

}  // namespace

TEST_CASE("kernel matrix: every kernel of kernels.def has cases") {
  std::set<KernelId> covered;
  for (const Case& c : all_cases()) {
    covered.insert(c.id);
    REQUIRE(static_cast<int>(c.operands.size()) == kernel_info(c.id).arity());
  }
  for (int k = 0; k < kernel_count; ++k) {
    const KernelId id = static_cast<KernelId>(k);
    INFO(kernel_info(id).name);
    CHECK(covered.count(id) == 1);
  }
}

TEST_CASE("kernel matrix: reference device against itself") {
  ReferenceDevice<double> device(5);
  run_matrix(device);
}

TEST_CASE("kernel matrix: a wrong element is noticed") {
  ReferenceDevice<double> device(6);
  std::set<KernelId> noticed;
  for (const Case& c : all_cases()) {
    if (noticed.count(c.id) == 1) continue;
    const auto want = reference_of(c);
    Words got = run_case(device, c);
    // The largest element of the first output, off by one part in a thousand.
    std::size_t a = 0;
    while (got[a].empty() || kernel_info(c.id).access(static_cast<int>(a)) == Access::read) ++a;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < want[a].size(); ++i) {
      if (std::isfinite(want[a][i]) && !(std::abs(want[a][i]) <= std::abs(want[a][largest]))) largest = i;
    }
    got[a][largest] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(got[a][largest]) * 1.001f);
    if (!difference(c, got, want).empty()) noticed.insert(c.id);
  }
  CHECK(noticed.size() == static_cast<std::size_t>(kernel_count));
}

TEST_CASE("kernel matrix: cpu") {
  for (const std::string& level : cpu::supported_levels()) {
    DYNAMIC_SECTION(level) { run_matrix(*cpu_at_level(level, 1)); }
  }
}

TEST_CASE("kernel matrix: cpu on one, two and three threads", "[threads]") {
  for (const std::string& level : cpu::supported_levels()) {
    const auto one = cpu_at_level(level, 1), two = cpu_at_level(level, 2), three = cpu_at_level(level, 3);
    for (const Case& c : all_cases()) {
      INFO(level << " " << kernel_info(c.id).name << " [" << c.what << "]");
      const Words words = run_case(*one, c);
      REQUIRE(run_case(*two, c) == words);
      REQUIRE(run_case(*three, c) == words);
    }
  }
}
