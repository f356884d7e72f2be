// Cases of the functions of one variable and their derivatives, ordinary and extreme arguments.
#include <limits>

#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

UnaryParams unary(std::size_t n, float a, float b, std::uint32_t accumulate) {
  UnaryParams p{};
  p.n = static_cast<std::uint32_t>(n);
  p.a = a;
  p.b = b;
  p.accumulate = accumulate;
  return p;
}

/// `special` values one at a time, alone and filling a vector and its tail: each must be right by itself.
template <KernelId id>
void add_forward(Cases& cases, float low, float high, const std::vector<float>& special, double noise = 0,
                 double relative = 2e-6, float a = 0, float b = 0) {
  const std::string with = a != 0 || b != 0 ? cat(" a ", a, " b ", b) : "";
  for (const std::uint32_t n : sizes()) {
    for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
      cases.push_back(make_case<id>(cat("n ", n, " accumulate ", accumulate, with),
                                    {floats(uniform(n, n, low, high)), result(n, accumulate)},
                                    unary(n, a, b, accumulate), relative, noise));
    }
  }
  for (const float x : special) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{19}}) {
      cases.push_back(make_case<id>(cat("n ", n, " all ", x, with),
                                    {floats(std::vector<float>(n, x)), output(n)}, unary(n, a, b, 0),
                                    relative, noise));
    }
  }
}

template <KernelId id>
void add_backward(Cases& cases, float low, float high, const std::vector<float>& special, double noise = 0,
                  float a = 0) {
  const std::string with = a != 0 ? cat(" a ", a) : "";
  for (const std::uint32_t n : sizes()) {
    for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
      cases.push_back(
          make_case<id>(cat("n ", n, " accumulate ", accumulate, with),
                        {floats(uniform(n, n, low, high)), floats(uniform(n, n + 1)), result(n, accumulate)},
                        unary(n, a, 0, accumulate), 2e-6, noise));
    }
  }
  for (const float s : special) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{19}}) {
      cases.push_back(
          make_case<id>(cat("n ", n, " all ", s, with),
                        {floats(std::vector<float>(n, s)), floats(std::vector<float>(n, 1.25f)), output(n)},
                        unary(n, a, 0, 0), 2e-6, noise));
    }
  }
}

void add_power(Cases& cases, float a, float low, const std::vector<float>& special) {
  add_forward<KernelId::pow_scalar>(cases, low, 2.5f, special, 0, 2e-6, a);
  add_backward<KernelId::pow_scalar_backward>(cases, low, 2.5f, special, 0, a);
}

}  // namespace

void add_unary_cases(Cases& cases) {
  const double tiny = 1e-37;  // below the normal range of f32 nothing is promised
  const double eps = 2e-7;    // 1 + tanh and 1 + erf cancel on the left
  add_forward<KernelId::exp>(cases, -3, 3,
                             {0, 1, -1, 88, -80, -104, -1000, 1000, infinity, -infinity, 1e-30f}, tiny);
  add_forward<KernelId::log>(cases, 0.1f, 3, {1, 1e-30f, 1e30f, 0, -1, infinity, 0.99f, 1.01f}, 1e-9);
  add_forward<KernelId::sqrt>(cases, 0, 3, {0, 1, 1e-30f, 1e30f, -1, infinity}, 0, 1.5e-7);
  add_forward<KernelId::tanh>(cases, -3, 3,
                              {0, 1e-30f, 1e-4f, 0.1f, -0.1f, 9, -9, 1000, -1000, infinity, -infinity}, 1e-7);
  add_forward<KernelId::relu>(cases, -3, 3, {0, -0.0f, 1, -1, 1e30f, -1e30f, infinity, -infinity}, 0, 1.5e-7);
  const std::vector<float> wide{0, 1e-30f, -1e-30f, 0.01f, -0.01f, 2, -2, 6, -6, 12, -12, 1000, -1000};
  add_forward<KernelId::gelu>(cases, -3, 3, wide, eps);
  add_forward<KernelId::gelu_exact>(cases, -3, 3, wide, eps);
  add_forward<KernelId::silu>(cases, -3, 3, wide, tiny);
  add_forward<KernelId::silu>(cases, -80, 80, {88, -88, 100, -100}, 1e-35);
  add_forward<KernelId::affine>(cases, -3, 3, {0, 1e30f, infinity}, 1e-6, 1.5e-7, 1.5f, -0.25f);
  add_forward<KernelId::affine>(cases, -3, 3, {}, 0, 1.5e-7, -1, 0);

  add_backward<KernelId::exp_backward>(cases, 0, 20, {0, 1e30f});
  add_backward<KernelId::log_backward>(cases, 0.1f, 3, {1e-30f, 1e30f});
  add_backward<KernelId::sqrt_backward>(cases, 0.1f, 3, {1e-15f, 1e15f});
  add_backward<KernelId::tanh_backward>(cases, -1, 1, {0, 1, -1, 0.5f}, 1e-7);
  add_backward<KernelId::relu_backward>(cases, -3, 3, {0, -0.0f, 1, -1, 1e-30f});
  add_backward<KernelId::gelu_backward>(cases, -3, 3, wide, 2 * eps);
  add_backward<KernelId::gelu_exact_backward>(cases, -3, 3, wide, 2 * eps);
  add_backward<KernelId::silu_backward>(cases, -3, 3, wide, eps);

  add_power(cases, 2, -2.5f, {0, -3, 3});
  add_power(cases, 3, -2.5f, {0, -3, 3});
  add_power(cases, 1, -2.5f, {0, -3, 3});
  add_power(cases, 0, -2.5f, {0, -3, 3});
  add_power(cases, -1, 0.1f, {-2, 4});
  add_power(cases, 0.5f, 0.1f, {4});
  add_power(cases, -0.5f, 0.1f, {4});
  add_power(cases, 1.5f, 0.1f, {0, 4});
}

}  // namespace llmtool::kernel_test
