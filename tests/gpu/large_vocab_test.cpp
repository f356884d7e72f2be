// One training step with GPT-2's vocabulary and more logits than the smallest device binds at once: windows
// of the token table, chunks of the head. Not here: the pieces one by one (split_test.cpp).
#include "cpu/cpu_device.h"
#include "gpu/support.h"
#include "model/steps.h"
#include "support/scoped_variable.h"

using namespace llmtool;
using namespace llmtool::step_test;

namespace {

constexpr std::int64_t words = 50257;

/// One step of a narrow model on both devices: statistics and every gradient.
void compare_step(Device& device, bool tied, std::int64_t batch, std::int64_t block) {
  ModelConfig config = small();
  config.n_layer = 1;
  config.block_size = block;
  config.tie_embeddings = tied;
  const auto cpu = make_cpu_device(2);
  Steps wanted(*cpu, config, batch, 1, words), got(device, config, batch, 1, words);
  const StepStats left = wanted.result(wanted.run(0)), right = got.result(got.run(0));
  CHECK(right.loss == Approx(left.loss).epsilon(1e-5));
  CHECK(right.grad_norm == Approx(left.grad_norm).epsilon(1e-4));
  check_gradients(wanted, got, 1e-4);
}

}  // namespace

TEST_CASE("a vocabulary of 50257 with logits above 128 MiB trains as on the CPU") {
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  constexpr std::int64_t batch = 8, block = 84;
  static_assert(batch * block * words * 4 > 128 << 20);
  compare_step(*device, true, batch, block);
}

TEST_CASE("the same with tables and logits above a forced range") {
  const ScopedVariable range("LLMTOOL_VK_MAX_RANGE", "1048576");  // a table has 3.2 MB, the logits 3.2 MB
  const auto device = gpu_test::device_or_none();
  if (device == nullptr) return;
  for (const bool tied : {false, true}) compare_step(*device, tied, 2, 8);
}
