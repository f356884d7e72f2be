// Derivatives of the element-wise functions: dx = dy * f', from the forward's y (exp, sqrt, tanh) or x (the
// others).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/unary_backward.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Exp {
  HWY_INLINE VF operator()(VF y, VF dy) const { return hn::Mul(dy, y); }
};
struct Log {
  HWY_INLINE VF operator()(VF x, VF dy) const { return hn::Div(dy, x); }
};
struct Sqrt {
  HWY_INLINE VF operator()(VF y, VF dy) const { return hn::Div(hn::Mul(dy, set(0.5f)), y); }
};
struct Tanh {
  HWY_INLINE VF operator()(VF y, VF dy) const { return hn::Mul(dy, hn::NegMulAdd(y, y, set(1.0f))); }
};
struct Relu {
  HWY_INLINE VF operator()(VF x, VF dy) const { return hn::IfThenElseZero(hn::Gt(x, zero()), dy); }
};
struct Gelu {
  HWY_INLINE VF operator()(VF x, VF dy) const { return hn::Mul(dy, gelu_slope(x)); }
};
struct GeluExact {
  HWY_INLINE VF operator()(VF x, VF dy) const { return hn::Mul(dy, gelu_exact_slope(x)); }
};
struct Silu {
  HWY_INLINE VF operator()(VF x, VF dy) const { return hn::Mul(dy, silu_slope(x)); }
};
struct Square {
  HWY_INLINE VF operator()(VF x, VF dy) const { return hn::Mul(dy, hn::Add(x, x)); }
};

template <class F>
void unary(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const UnaryParams*>(params);
  map(context, p.n, p.accumulate != 0, floats(views[2]), F{}, floats(views[0]), floats(views[1]));
}

void pow_scalar(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const UnaryParams*>(params);
  if (p.a == 2.0f) return unary<Square>(context, views, params);
  const float* x = floats(views[0]);
  const float* dy = floats(views[1]);
  float* dx = floats(views[2]);
  const double a = p.a;
  in_chunks(context, p.n, 2048, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double slope = a == 0 ? 0 : a * std::pow(static_cast<double>(x[i]), a - 1);
      const float v = static_cast<float>(dy[i] * slope);
      dx[i] = p.accumulate != 0 ? dx[i] + v : v;
    }
  });
}

}  // namespace

void register_unary_backward(KernelRow& row) {
  row[KernelId::exp_backward] = unary<Exp>;
  row[KernelId::log_backward] = unary<Log>;
  row[KernelId::sqrt_backward] = unary<Sqrt>;
  row[KernelId::tanh_backward] = unary<Tanh>;
  row[KernelId::relu_backward] = unary<Relu>;
  row[KernelId::gelu_backward] = unary<Gelu>;
  row[KernelId::gelu_exact_backward] = unary<GeluExact>;
  row[KernelId::silu_backward] = unary<Silu>;
  row[KernelId::pow_scalar_backward] = pow_scalar;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_unary_backward)
#endif
