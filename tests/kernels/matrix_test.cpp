// The kernel matrix: every kernel of kernels.def, on every device that computes, against the reference
// device.
#include <memory>
#include <set>

#include "base/cat.h"
#include "cpu/cpu_device.h"
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

TEST_CASE("kernel matrix: cpu") {
  const auto device = make_cpu_device(1);
  run_matrix(*device);
}

TEST_CASE("kernel matrix: cpu on three threads", "[threads]") {
  const auto one = make_cpu_device(1), three = make_cpu_device(3);
  for (const Case& c : all_cases()) {
    INFO(kernel_info(c.id).name << " [" << c.what << "]");
    REQUIRE(run_case(*one, c) == run_case(*three, c));
  }
}
