// The self-test; see self_test.h.
#include "vulkan/self_test.h"

#include <cmath>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/matmul_params.h"
#include "device/pool.h"

namespace llmtool::vulkan {
namespace {

/// Device memory for one argument, given back when done.
class Argument {
 public:
  Argument(Device& device, std::size_t elements)
      : device_(device),
        allocation_(device.pool().take(elements * sizeof(float))),
        bytes_(elements * sizeof(float)) {}
  Argument(Device& device, const std::vector<float>& values) : Argument(device, values.size()) {
    device.stage(view(), std::as_bytes(std::span(values)));
  }
  ~Argument() { device_.pool().give(allocation_); }
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  View view() const noexcept { return {allocation_.block, allocation_.offset, bytes_, DType::f32}; }
  std::vector<float> values() const {
    const FetchedPtr fetched = device_.fetch(view());
    device_.synchronise();
    return fetched->as<float>();
  }

 private:
  Device& device_;
  Allocation allocation_;
  std::uint64_t bytes_;
};

std::vector<float> wave(std::size_t n, double step) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i + 1)));
  return values;
}

std::string compare(const char* what, const std::vector<float>& got, const std::vector<double>& want,
                    double allowed) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - want[i]);
    if (!(error <= allowed * (1 + std::abs(want[i])))) {
      return cat(what, " gives ", got[i], " where ", want[i], " is right");
    }
  }
  return "";
}

std::string test_matmul(Device& device) {
  constexpr std::uint32_t m = 33, n = 29, k = 37;
  const auto a = wave(m * k, 0.37), b = wave(n * k, 0.71);
  std::vector<double> want(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t p = 0; p < k; ++p)
        want[i * n + j] += static_cast<double>(a[i * k + p]) * static_cast<double>(b[j * k + p]);
    }
  }
  const Argument da(device, a), db(device, b), dc(device, m * n);
  launch<KernelId::matmul>(device, {da.view(), db.view(), View{}, View{}, dc.view()},
                           dense_matmul(LLMTOOL_MATMUL_NT, m, n, k));
  return compare("a matrix product", dc.values(), want, 1e-5);
}

std::string test_sum(Device& device) {
  constexpr std::uint32_t n = 1001;
  const auto x = wave(n, 0.13);
  std::vector<double> want(1);
  for (const float value : x) want[0] += static_cast<double>(value);
  const Argument dx(device, x), dy(device, 1);
  launch<KernelId::sum_to>(device, {dx.view(), dy.view()},
                           ReduceParams{n, {1, 1, 1, n}, {1, 1, 1, 1}, 1.0f, 0});
  return compare("a sum", dy.values(), want, 1e-5);
}

template <KernelId id>
std::string test_unary(Device& device, const char* what, double (*f)(double)) {
  const auto x = wave(257, 0.29);
  std::vector<double> want;
  for (const float value : x) want.push_back(f(static_cast<double>(value)));
  const Argument dx(device, x), dy(device, x.size());
  launch<id>(device, {dx.view(), dy.view()}, UnaryParams{static_cast<std::uint32_t>(x.size()), 0, 0, 0});
  return compare(what, dy.values(), want, 1e-5);
}

}  // namespace

std::string self_test(Device& device) {
  std::string wrong = test_matmul(device);
  if (wrong.empty()) wrong = test_sum(device);
  if (wrong.empty())
    wrong = test_unary<KernelId::tanh>(device, "tanh", [](double x) { return std::tanh(x); });
  if (wrong.empty()) wrong = test_unary<KernelId::exp>(device, "exp", [](double x) { return std::exp(x); });
  return wrong;
}

}  // namespace llmtool::vulkan
