// Cases of broadcast arithmetic and of swiglu.
#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

struct Layout {
  const char* what;
  std::uint32_t shape[4];
  std::uint32_t a[4];
  std::uint32_t b[4];
};

std::size_t extent(const Layout& l, const std::uint32_t (&stride)[4]) {
  std::size_t last = 0;
  for (int d = 0; d < 4; ++d) last += std::size_t{l.shape[d] - 1} * stride[d];
  return last + 1;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (const std::uint32_t n : sizes()) {
    all.push_back({"flat", {1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 1}});
    all.push_back({"scalar b", {1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 0}});
    all.push_back({"scalar a", {1, 1, 1, n}, {0, 0, 0, 0}, {0, 0, 0, 1}});
    all.push_back({"row b", {1, 1, 5, n}, {0, 0, n, 1}, {0, 0, 0, 1}});
    all.push_back({"column b", {1, 1, 5, n}, {0, 0, n, 1}, {0, 0, 1, 0}});
    all.push_back({"column a, row b", {1, 1, n, 7}, {0, 0, 1, 0}, {0, 0, 0, 1}});
  }
  all.push_back({"4-d", {2, 3, 4, 5}, {60, 20, 5, 1}, {60, 20, 5, 1}});
  all.push_back({"4-d, b (3,1,5)", {2, 3, 4, 5}, {60, 20, 5, 1}, {0, 5, 0, 1}});
  all.push_back({"4-d, a (2,1,4,1), b (3,1,5)", {2, 3, 4, 5}, {4, 0, 1, 0}, {0, 5, 0, 1}});
  all.push_back({"4-d, b permuted", {2, 3, 4, 5}, {60, 20, 5, 1}, {1, 2, 6, 24}});
  all.push_back({"4-d, wide rows", {2, 2, 3, 67}, {402, 201, 67, 1}, {67, 0, 0, 1}});
  return all;
}

template <KernelId id>
void add_kernel(Cases& cases, double relative, float a_low, float a_high, float b_low, float b_high) {
  std::uint64_t seed = 1;
  for (const Layout& l : layouts()) {
    BroadcastParams p{};
    p.n = 1;
    for (int d = 0; d < 4; ++d) {
      p.shape[d] = l.shape[d];
      p.a_stride[d] = l.a[d];
      p.b_stride[d] = l.b[d];
      p.n *= l.shape[d];
    }
    for (p.accumulate = 0; p.accumulate < 2; ++p.accumulate) {
      const std::uint64_t s = seed++;
      auto a = uniform(extent(l, l.a), 2 * s, a_low, a_high);
      auto b = uniform(extent(l, l.b), 2 * s + 1, b_low, b_high);
      cases.push_back(make_case<id>(cat(l.what, " n ", p.n, " accumulate ", p.accumulate),
                                    {floats(a), floats(b), result(p.n, p.accumulate)}, p, relative));
    }
  }
}

/// Pairs (a, b) where powers are special.
template <KernelId id>
void add_special_powers(Cases& cases) {
  const std::vector<float> a{0, 0, 0, 0, 1, 1, 2, -2, -2, -2, -1, 0.5f, 3, 10, -3};
  const std::vector<float> b{0, 1, 2, 0.5f, 0, 7, 3, 2, 3, -1, 5, -2, 0, -3, 0};
  BroadcastParams p{};
  p.n = static_cast<std::uint32_t>(a.size());
  p.shape[0] = p.shape[1] = p.shape[2] = 1;
  p.shape[3] = p.n;
  p.a_stride[3] = p.b_stride[3] = 1;
  cases.push_back(make_case<id>("special powers", {floats(a), floats(b), output(a.size())}, p));
}

void add_swiglu(Cases& cases) {
  for (const std::uint32_t cols : sizes()) {
    for (const std::uint32_t rows : {1u, 3u, 17u}) {
      for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
        const SwigluParams p{rows, cols, accumulate};
        const std::size_t n = std::size_t{rows} * cols;
        const auto x = uniform(2 * n, cols + rows, -4, 4), dy = uniform(n, cols + rows + 7);
        const std::string what = cat(rows, "x", cols, " accumulate ", accumulate);
        cases.push_back(make_case<KernelId::swiglu>(what, {floats(x), result(n, accumulate)}, p));
        cases.push_back(make_case<KernelId::swiglu_backward>(
            what, {floats(x), floats(dy), result(2 * n, accumulate)}, p));
      }
    }
  }
}

}  // namespace

void add_elementwise_cases(Cases& cases) {
  const double rounded = 1.5e-7;  // one operation, and one more where it accumulates
  add_kernel<KernelId::add>(cases, rounded, -2, 2, -2, 2);
  add_kernel<KernelId::sub>(cases, rounded, -2, 2, -2, 2);
  add_kernel<KernelId::mul>(cases, rounded, -2, 2, -2, 2);
  add_kernel<KernelId::div>(cases, rounded, -2, 2, 0.5f, 2);
  add_kernel<KernelId::pow>(cases, 2e-6, 0.1f, 3, -3, 3);
  add_kernel<KernelId::pow_da>(cases, 2e-6, 0.1f, 3, -3, 3);
  add_kernel<KernelId::pow_db>(cases, 2e-6, 0.1f, 3, -3, 3);
  add_special_powers<KernelId::pow>(cases);
  add_special_powers<KernelId::pow_da>(cases);
  add_special_powers<KernelId::pow_db>(cases);
  add_swiglu(cases);
}

}  // namespace llmtool::kernel_test
