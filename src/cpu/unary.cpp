// exp, log, sqrt, tanh, relu, gelu, gelu_exact, silu, affine, pow_scalar: one input, one output, element by
// element. Not here: their derivatives (unary_backward.cpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/unary.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Exp {
  HWY_INLINE VF operator()(VF x) const { return exp(x); }
};
struct Log {
  HWY_INLINE VF operator()(VF x) const { return log(x); }
};
struct Sqrt {
  HWY_INLINE VF operator()(VF x) const { return hn::Sqrt(x); }
};
struct Tanh {
  HWY_INLINE VF operator()(VF x) const { return tanh(x); }
};
struct Relu {
  // Not Max: NaN must come through.
  HWY_INLINE VF operator()(VF x) const { return hn::IfThenZeroElse(hn::Lt(x, zero()), x); }
};
struct Gelu {
  HWY_INLINE VF operator()(VF x) const { return gelu(x); }
};
struct GeluExact {
  HWY_INLINE VF operator()(VF x) const { return gelu_exact(x); }
};
struct Silu {
  HWY_INLINE VF operator()(VF x) const { return silu(x); }
};
struct Affine {
  float a, b;
  HWY_INLINE VF operator()(VF x) const { return hn::MulAdd(set(a), x, set(b)); }
};
struct Square {
  HWY_INLINE VF operator()(VF x) const { return hn::Mul(x, x); }
};

template <class F>
void unary(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const UnaryParams*>(params);
  map(context, p.n, p.accumulate != 0, floats(views[1]), F{}, floats(views[0]));
}

void affine(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const UnaryParams*>(params);
  map(context, p.n, p.accumulate != 0, floats(views[1]), Affine{p.a, p.b}, floats(views[0]));
}

// The C library's pow on doubles: correctly rounded to f32 in nearly all cases, and never a hot spot.
void pow_scalar(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const UnaryParams*>(params);
  const float* x = floats(views[0]);
  float* y = floats(views[1]);
  if (p.a == 2.0f) return map(context, p.n, p.accumulate != 0, y, Square{}, x);
  in_chunks(context, p.n, 2048, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float v = static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(p.a)));
      y[i] = p.accumulate != 0 ? y[i] + v : v;
    }
  });
}

}  // namespace

void register_unary(KernelRow& row) {
  row[KernelId::exp] = unary<Exp>;
  row[KernelId::log] = unary<Log>;
  row[KernelId::sqrt] = unary<Sqrt>;
  row[KernelId::tanh] = unary<Tanh>;
  row[KernelId::relu] = unary<Relu>;
  row[KernelId::gelu] = unary<Gelu>;
  row[KernelId::gelu_exact] = unary<GeluExact>;
  row[KernelId::silu] = unary<Silu>;
  row[KernelId::affine] = affine;
  row[KernelId::pow_scalar] = pow_scalar;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_unary)
#endif
