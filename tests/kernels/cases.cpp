// The list of all cases: what the families give, each once aligned and once with every view moved off its
// alignment.
#include "base/cat.h"
#include "base/rng.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {

std::vector<float> uniform(std::size_t n, std::uint64_t seed, float low, float high) {
  const Stream stream(seed, "kernel cases");
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = low + static_cast<float>(stream.uniform(i)) * (high - low);
  }
  return values;
}

const Cases& all_cases() {
  static const Cases list = [] {
    Cases families;
    add_elementwise_cases(families);
    add_unary_cases(families);
    add_shape_cases(families);
    add_row_cases(families);
    add_loss_cases(families);
    add_matmul_cases(families);
    add_attention_cases(families);
    add_optimizer_cases(families);
    Cases all;
    all.reserve(2 * families.size());
    std::uint32_t turn = 0;
    for (Case& c : families) {
      Case moved = c;
      moved.what += " misaligned";
      for (Operand& operand : moved.operands) operand.shift = 1 + turn++ % 7;
      all.push_back(std::move(c));
      all.push_back(std::move(moved));
    }
    return all;
  }();
  return list;
}

}  // namespace llmtool::kernel_test
