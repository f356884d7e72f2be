// add, sub, mul, div, pow and the two derivatives of pow: two inputs with broadcasting, run by run
// (strided.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/binary.cpp"
#include "cpu/simd_target.h"
// After simd_target.h, once per target.
#include "cpu/simd-inl.h"
#include "cpu/strided.h"

HWY_BEFORE_NAMESPACE();
namespace llmtool::cpu::HWY_NAMESPACE {
namespace {

struct Add {
  static HWY_INLINE VF vector(VF a, VF b) { return hn::Add(a, b); }
  static float scalar(float a, float b) { return a + b; }
};
struct Sub {
  static HWY_INLINE VF vector(VF a, VF b) { return hn::Sub(a, b); }
  static float scalar(float a, float b) { return a - b; }
};
struct Mul {
  static HWY_INLINE VF vector(VF a, VF b) { return hn::Mul(a, b); }
  static float scalar(float a, float b) { return a * b; }
};
struct Div {
  static HWY_INLINE VF vector(VF a, VF b) { return hn::Div(a, b); }
  static float scalar(float a, float b) { return a / b; }
};
/// The functions around pow have no vector form: lane by lane, in double.
template <class Scalar>
struct ByLane {
  static HWY_INLINE VF vector(VF a, VF b) {
    HWY_ALIGN float x[lanes], y[lanes];
    hn::Store(a, DF(), x);
    hn::Store(b, DF(), y);
    for (std::int64_t i = 0; i < lanes; ++i) x[i] = Scalar::of(x[i], y[i]);
    return hn::Load(DF(), x);
  }
  static float scalar(float a, float b) { return Scalar::of(a, b); }
};
struct PowOf {
  static float of(double a, double b) { return static_cast<float>(std::pow(a, b)); }
};
struct PowDaOf {
  static float of(double a, double b) { return b == 0 ? 0.0f : static_cast<float>(b * std::pow(a, b - 1)); }
};
struct PowDbOf {
  static float of(double a, double b) {
    return a <= 0 ? 0.0f : static_cast<float>(std::pow(a, b) * std::log(a));
  }
};

/// `count` elements of one run. Strides are 0 or 1 except in rare layouts, which go element by element.
template <class Op, bool accumulate>
void run(std::int64_t count, const float* a, std::int64_t sa, const float* b, std::int64_t sb, float* y) {
  if (sa == 1 && sb == 1) {
    map_range<accumulate>(
        0, count, y, [](VF u, VF v) HWY_ATTR { return Op::vector(u, v); }, a, b);
  } else if (sa == 1 && sb == 0) {
    const VF v = set(*b);
    map_range<accumulate>(
        0, count, y, [v](VF u) HWY_ATTR { return Op::vector(u, v); }, a);
  } else if (sa == 0 && sb == 1) {
    const VF u = set(*a);
    map_range<accumulate>(
        0, count, y, [u](VF v) HWY_ATTR { return Op::vector(u, v); }, b);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const float v = Op::scalar(a[i * sa], b[i * sb]);
      y[i] = accumulate ? y[i] + v : v;
    }
  }
}

template <class Op>
void binary(CpuContext& context, std::span<const View> views, const void* params) {
  const auto& p = *static_cast<const BroadcastParams*>(params);
  const Strided runs(p.shape, p.a_stride, p.b_stride);
  const float* a = floats(views[0]);
  const float* b = floats(views[1]);
  float* y = floats(views[2]);
  in_chunks(context, p.n, flat_chunk, [&](std::int64_t begin, std::int64_t end, int) {
    runs.pieces(begin, end, [&](std::int64_t at, std::int64_t at_a, std::int64_t at_b, std::int64_t count) {
      if (p.accumulate != 0) {
        run<Op, true>(count, a + at_a, runs.a[0], b + at_b, runs.b[0], y + at);
      } else {
        run<Op, false>(count, a + at_a, runs.a[0], b + at_b, runs.b[0], y + at);
      }
    });
  });
}

}  // namespace

void register_binary(KernelRow& row) {
  row[KernelId::add] = binary<Add>;
  row[KernelId::sub] = binary<Sub>;
  row[KernelId::mul] = binary<Mul>;
  row[KernelId::div] = binary<Div>;
  row[KernelId::pow] = binary<ByLane<PowOf>>;
  row[KernelId::pow_da] = binary<ByLane<PowDaOf>>;
  row[KernelId::pow_db] = binary<ByLane<PowDbOf>>;
}

}  // namespace llmtool::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
LLMTOOL_REGISTER_LEVELS(register_binary)
#endif
