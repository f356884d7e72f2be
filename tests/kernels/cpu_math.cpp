// Accuracy of the vector mathematics, at every SIMD level, against the C library in double; and what happens
// at the ends.
#include <cmath>
#include <limits>

#include "kernels/cpu_support.h"
#include "support/catch.h"

using namespace llmtool;
using namespace llmtool::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> apply(cpu::SimdLevel level, KernelId id, std::vector<float> x) {
  std::vector<float> y(x.size());
  const UnaryParams params{static_cast<std::uint32_t>(x.size()), 0, 0, 0};
  call(level, id, {VectorView(x), VectorView(y)}, params);
  return y;
}

/// Distance to the exact value in units of the last place of its f32.
double ulps(float got, double exact) {
  const float rounded = static_cast<float>(exact);
  const double unit = static_cast<double>(std::nextafter(std::fabs(rounded), infinity)) - std::fabs(rounded);
  return std::fabs(static_cast<double>(got) - exact) / unit;
}

template <class F>
double worst_ulps(cpu::SimdLevel level, KernelId id, const std::vector<float>& x, const F& exact) {
  const std::vector<float> y = apply(level, id, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, ulps(y[i], exact(static_cast<double>(x[i]))));
  return worst;
}
template <class F>
double worst_error(cpu::SimdLevel level, KernelId id, const std::vector<float>& x, const F& exact) {
  const std::vector<float> y = apply(level, id, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(y[i]) - exact(static_cast<double>(x[i]))));
  }
  return worst;
}

std::vector<float> between(float from, float to, int count) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i)
    x.push_back(from + (to - from) * (static_cast<float>(i) + 0.37f) / static_cast<float>(count));
  return x;
}
/// Both signs, magnitudes over the whole range of `low` to `high` binary orders.
std::vector<float> magnitudes(int low, int high, bool negative) {
  std::vector<float> x;
  for (int e = low; e < high; ++e) {
    for (int i = 0; i < 64; ++i) {
      const float v = std::ldexp(1.0f + static_cast<float>(i) / 64.0f + 0.003f, e);
      x.push_back(v);
      if (negative) x.push_back(-v);
    }
  }
  return x;
}

}  // namespace

TEST_CASE("cpu math: exp") {
  for (const auto level : levels()) {
    INFO(std::string(name_of(level)));
    const auto exact = [](double v) { return std::exp(v); };
    CHECK(worst_ulps(level, KernelId::exp, between(-87.0f, 88.7f, 20001), exact) < 2.0);
    CHECK(worst_ulps(level, KernelId::exp, between(-103.0f, -87.0f, 2001), exact) < 2.0);
    CHECK(worst_ulps(level, KernelId::exp, magnitudes(-30, 4, true), exact) < 2.0);
    const auto y =
        apply(level, KernelId::exp, {0.0f, -infinity, infinity, -1e30f, 1e30f, 89.0f, -105.0f, NAN});
    CHECK(y[0] == 1.0f);
    CHECK(y[1] == 0.0f);
    CHECK(y[2] == infinity);
    CHECK(y[3] == 0.0f);
    CHECK(y[4] == infinity);
    CHECK(y[5] == infinity);
    CHECK(y[6] == 0.0f);
    CHECK(std::isnan(y[7]));
  }
}

TEST_CASE("cpu math: log") {
  for (const auto level : levels()) {
    INFO(std::string(name_of(level)));
    const auto exact = [](double v) { return std::log(v); };
    CHECK(worst_ulps(level, KernelId::log, magnitudes(-126, 127, false), exact) < 2.0);
    CHECK(worst_ulps(level, KernelId::log, between(0.5f, 2.0f, 20001), exact) < 2.5);
    CHECK(worst_ulps(level, KernelId::log, {1e-40f, 3e-42f, 1.4e-45f, 1.17549421e-38f}, exact) < 2.0);
    const auto y = apply(level, KernelId::log, {1.0f, 0.0f, -0.0f, -1.0f, infinity, NAN, -infinity, -1e-42f});
    CHECK(y[0] == 0.0f);
    CHECK(y[1] == -infinity);
    CHECK(y[2] == -infinity);
    CHECK(std::isnan(y[3]));
    CHECK(y[4] == infinity);
    CHECK(std::isnan(y[5]));
    CHECK(std::isnan(y[6]));
    CHECK(std::isnan(y[7]));
  }
}

TEST_CASE("cpu math: tanh") {
  for (const auto level : levels()) {
    INFO(std::string(name_of(level)));
    const auto exact = [](double v) { return std::tanh(v); };
    CHECK(worst_ulps(level, KernelId::tanh, between(-10.0f, 10.0f, 20001), exact) < 3.5);
    CHECK(worst_ulps(level, KernelId::tanh, magnitudes(-60, 4, true), exact) < 3.5);
    CHECK(worst_error(level, KernelId::tanh, between(-20.0f, 20.0f, 20001), exact) < 2e-7);
    const auto y = apply(level, KernelId::tanh, {0.0f, 15.0f, -16.0f, infinity, -infinity, NAN});
    CHECK(y[0] == 0.0f);
    CHECK(y[1] == 1.0f);
    CHECK(y[2] == -1.0f);
    CHECK(y[3] == 1.0f);
    CHECK(y[4] == -1.0f);
    CHECK(std::isnan(y[5]));
  }
}

TEST_CASE("cpu math: gelu in both forms, silu, relu") {
  const auto tanh_form = [](double x) {
    return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  };
  const auto erf_form = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  for (const auto level : levels()) {
    INFO(std::string(name_of(level)));
    const auto x = between(-6.0f, 6.0f, 20001);
    CHECK(worst_error(level, KernelId::gelu, x, tanh_form) < 5e-7);
    CHECK(worst_error(level, KernelId::gelu_exact, x, erf_form) < 7e-7);
    CHECK(worst_error(level, KernelId::silu, x, silu) < 7e-7);
    CHECK(worst_ulps(level, KernelId::gelu_exact, magnitudes(-40, -1, false), erf_form) < 4.0);
    for (const KernelId id : {KernelId::gelu, KernelId::gelu_exact, KernelId::silu, KernelId::relu}) {
      const auto y = apply(level, id, {0.0f, 50.0f, NAN});
      CHECK(y[0] == 0.0f);
      CHECK(y[1] == 50.0f);
      CHECK(std::isnan(y[2]));
    }
  }
}
