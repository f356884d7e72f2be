// Launches that are cut because views exceed what the device binds, on the device itself, under a forced
// small limit: what shaders make of windows is seen here. Not here: which pieces there are (split_test.cpp).
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/cat.h"
#include "gpu/support.h"
#include "kernels/run.h"
#include "support/scoped_variable.h"
#include "vulkan/split.h"

using namespace llmtool;
using namespace llmtool::kernel_test;

namespace {

bool too_large(const Case& c, std::uint64_t bytes) {
  return std::any_of(c.operands.begin(), c.operands.end(),
                     [=](const Operand& operand) { return operand.words.size() * 4 > bytes; });
}

/// Elementwise kernels at more elements than the kernel matrix has.
Cases longer_cases() {
  const std::uint32_t n = 1500;
  const auto x = uniform(n, 1), y = uniform(n, 2), z = uniform(n, 3), v = uniform(n, 4, 0, 4);
  StepParams step{};
  step.learning_rate = 3e-2f;
  step.bias_correction1 = 1.9f;
  step.bias_correction2 = 7.5f;
  step.step = 5;
  step.dropout_key0 = 17;
  const StepStats stats{1, 2, 0.5f, 0};
  Cases cases;
  cases.push_back(make_case<KernelId::gelu>("long", {floats(x), output(n)}, {n, 0, 0, 0}, 2e-6, 2e-7));
  cases.push_back(
      make_case<KernelId::relu_backward>("long", {floats(x), floats(y), floats(z)}, {n, 0, 0, 1}));
  cases.push_back(make_case<KernelId::mul>("long", {floats(x), floats(y), output(n)},
                                           {n, {1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 1}, 0}));
  cases.push_back(make_case<KernelId::dropout>("long", {floats(x), words_of(step), floats(z)},
                                               {n, 100, 3, 8, 0x40000000u, 1.25f, 1}));
  cases.push_back(make_case<KernelId::adamw>(
      "long", {floats(x), floats(y), floats(z), floats(v), words_of(step), words_of(stats)},
      {n, 777, 0.1f, 0.9f, 0.95f, 1e-8f}));
  cases.push_back(make_case<KernelId::sgd>("long",
                                           {floats(x), floats(y), floats(z), words_of(step), words_of(stats)},
                                           {n, 777, 0.1f, 0.9f, 0, 0}));
  return cases;
}

}  // namespace

TEST_CASE("split: launches cut under a small limit give the same on the device") {
  std::map<KernelId, int> compared;
  for (const std::uint64_t range : {1024u, 4096u}) {
    const ScopedVariable small("LLMTOOL_VK_MAX_RANGE", cat(range));
    const auto device = gpu_test::device_or_none();
    if (device == nullptr) return;
    Cases cases = longer_cases();
    std::map<KernelId, int> seen;
    for (const Case& c : all_cases()) {
      // Few cases of attention have batches that fit, fewer still where offsets are rounded down far.
      const int every = c.id == KernelId::attention ? 1 : 7;
      if (too_large(c, range) && seen[c.id]++ % every == 0 && seen[c.id] < 70) cases.push_back(c);
    }
    for (const Case& c : cases) {
      INFO(kernel_info(c.id).name << " [" << c.what << "] range " << range);
      Words got;
      try {
        got = run_case(*device, c);
      } catch (const Error& error) {
        // A row, a plan or a table that cannot be cut.
        REQUIRE(std::string(error.what()).find("cannot be cut further") != std::string::npos);
        continue;
      }
      REQUIRE(difference(c, got, reference_of(c)) == "");
      ++compared[c.id];
    }
  }
  for (const KernelId id : {KernelId::add,
                            KernelId::mul,
                            KernelId::gelu,
                            KernelId::relu_backward,
                            KernelId::swiglu,
                            KernelId::sum_to,
                            KernelId::expand,
                            KernelId::permute,
                            KernelId::gather_rows,
                            KernelId::scatter_rows,
                            KernelId::matmul,
                            KernelId::softmax,
                            KernelId::layer_norm,
                            KernelId::layer_norm_backward_params,
                            KernelId::rms_norm,
                            KernelId::rope,
                            KernelId::attention,
                            KernelId::attention_backward_kv,
                            KernelId::dropout,
                            KernelId::cross_entropy,
                            KernelId::grad_norm_partial,
                            KernelId::adamw,
                            KernelId::sgd}) {
    INFO(kernel_info(id).name);
    CHECK(compared[id] > 0);
  }
}
