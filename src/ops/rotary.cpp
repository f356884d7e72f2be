// Rotary positions; see attention.h.
#include <cmath>
#include <vector>

#include "base/error.h"
#include "ops/attention.h"
#include "ops/internal.h"

namespace llmtool::ops {

Tensor rotary_table(Device& device, std::int64_t positions, std::int64_t head_size, double theta) {
  if (head_size < 2 || head_size % 2 != 0) {
    throw request_error(cat("[rotary] the head size must be even, is ", head_size));
  }
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(positions * head_size));
  for (std::int64_t p = 0; p < positions; ++p) {
    for (std::int64_t i = 0; i < head_size / 2; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_size);
      const double angle = static_cast<double>(p) * std::pow(theta, exponent);
      values.push_back(static_cast<float>(std::cos(angle)));
      values.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return Tensor::of(device, {positions, head_size / 2, 2}, values);
}

Tensor rotary(const Tensor& x, const Tensor& table, std::int64_t rotated, std::int64_t position0,
              RotaryStyle style) {
  const Shape& s = x.shape();
  const Shape& t = table.shape();
  if (s.rank() != 4 || t.rank() != 3 || t[1] * 2 != s[3] || t[2] != 2) {
    throw request_error(cat("[rotary] x must be (B,T,H,D) and the table (positions,D/2,2): x ", s.str(),
                            ", table ", t.str()));
  }
  if (rotated < 0 || rotated > s[2])
    throw request_error(cat("[rotary] ", rotated, " rotated heads of ", s[2]));
  if (position0 < 0 || position0 + s[1] > t[0]) {
    throw request_error(
        cat("[rotary] positions ", position0, " to ", position0 + s[1] - 1, " with a table of ", t[0]));
  }
  Device& device = operands("rotary", {x, table});
  RopeParams params{};
  params.batch = u32(s[0]);
  params.tokens = u32(s[1]);
  params.heads = u32(s[2]);
  params.rotated = u32(rotated);
  params.head_size = u32(s[3]);
  params.style = style == RotaryStyle::half ? LLMTOOL_ROPE_HALF : LLMTOOL_ROPE_ADJACENT;
  params.position0 = u32(position0);
  Tensor y = Tensor::empty(device, s);
  launch<KernelId::rope>(device, {x.view(), table.view(), y.view()}, params);
  return record("rotary", y, {x}, [params, kept = Saved(table)](Backward& back) {
    const GradTarget dx = back.target(0);
    RopeParams p = params;
    p.inverse = 1;
    p.accumulate = dx.accumulate;
    launch<KernelId::rope>(back.device(), {back.grad().view(), kept.get().view(), dx.view()}, p);
  });
}

}  // namespace llmtool::ops
