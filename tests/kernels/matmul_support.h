// Matrix products for the tests of the matmul kernel: operands, a launch at one SIMD level, and the naive
// product in double. Not here: any test.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/threads.h"
#include "cpu/context.h"
#include "cpu/kernel_table.h"
#include "cpu/simd_level.h"

namespace llmtool::test {

/// Small deterministic numbers in [-1, 1).
inline std::vector<float> matmul_numbers(std::size_t n, std::uint32_t seed) {
  std::vector<float> v(n);
  std::uint32_t state = seed * 2654435761u + 12345u;
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<std::int32_t>(state) >> 8) * 0x1p-23f;
  }
  return v;
}

/// A product and its operands. Offsets are in elements, in front of each operand.
struct MatmulCase {
  MatmulParams p{};
  std::vector<float> a, b, bias, pre, c;
  std::size_t offset = 0;
  bool with_bias = false, with_pre = false;

  /// Operands that fit p with leading dimensions `pad` larger than needed, batches one after the other.
  static MatmulCase make(std::uint32_t form, std::uint32_t m, std::uint32_t n, std::uint32_t k,
                         std::uint32_t pad = 0, std::uint32_t batch0 = 1, std::uint32_t batch1 = 1) {
    MatmulCase t;
    t.p.form = form;
    t.p.m = m;
    t.p.n = n;
    t.p.k = k;
    t.p.lda = (form == LLMTOOL_MATMUL_TN ? m : k) + pad;
    t.p.ldb = (form == LLMTOOL_MATMUL_NT ? k : n) + pad;
    t.p.ldc = n + pad;
    t.p.batch0 = batch0;
    t.p.batch1 = batch1;
    const std::uint32_t a_size = (form == LLMTOOL_MATMUL_TN ? k : m) * t.p.lda;
    const std::uint32_t b_size = (form == LLMTOOL_MATMUL_NT ? n : k) * t.p.ldb;
    const std::uint32_t c_size = m * t.p.ldc;
    t.p.a_batch[0] = batch1 * a_size;
    t.p.a_batch[1] = a_size;
    t.p.b_batch[0] = batch1 * b_size;
    t.p.b_batch[1] = b_size;
    t.p.c_batch[0] = batch1 * c_size;
    t.p.c_batch[1] = c_size;
    t.offset = pad;
    const std::size_t entries = std::size_t{batch0} * batch1;
    t.a = matmul_numbers(entries * a_size + pad, 1);
    t.b = matmul_numbers(entries * b_size + pad, 2);
    t.c = matmul_numbers(entries * c_size + pad, 3);
    t.pre = matmul_numbers(entries * c_size + pad, 4);
    t.bias = matmul_numbers(n + pad, 5);
    return t;
  }

  std::size_t c_index(std::size_t b0, std::size_t b1, std::size_t i, std::size_t j) const {
    return offset + b0 * p.c_batch[0] + b1 * p.c_batch[1] + i * p.ldc + j;
  }

  /// The chain of one element in double, from c with accumulate; then the bias.
  double naive(std::size_t b0, std::size_t b1, std::size_t i, std::size_t j,
               const std::vector<float>& c0) const {
    const float* const am = a.data() + offset + b0 * p.a_batch[0] + b1 * p.a_batch[1];
    const float* const bm = b.data() + offset + b0 * p.b_batch[0] + b1 * p.b_batch[1];
    double sum = p.accumulate != 0 ? static_cast<double>(c0[c_index(b0, b1, i, j)]) : 0.0;
    for (std::size_t q = 0; q < p.k; ++q) {
      const double x =
          static_cast<double>(p.form == LLMTOOL_MATMUL_TN ? am[q * p.lda + i] : am[i * p.lda + q]);
      const double y =
          static_cast<double>(p.form == LLMTOOL_MATMUL_NT ? bm[j * p.ldb + q] : bm[q * p.ldb + j]);
      sum += x * y;
    }
    return with_bias ? sum + static_cast<double>(bias[offset + j]) : sum;
  }

  /// Runs the kernel; c (and pre) change.
  void run(cpu::SimdLevel level, ThreadPool& pool);
};

/// A case made ready to be launched many times.
class BoundMatmul {
 public:
  BoundMatmul(MatmulCase& t, cpu::SimdLevel level, cpu::CpuContext& context) : t_(t), context_(context) {
    static const cpu::KernelTable table = [] {
      cpu::KernelTable all;
      cpu::register_matmul(all);
      return all;
    }();
    kernel_ = table[level][KernelId::matmul];
    std::vector<float>* const operands[5] = {&t.a, &t.b, &t.bias, &t.pre, &t.c};
    const bool given[5] = {t.p.k != 0, t.p.k != 0, t.with_bias, t.with_pre, true};
    for (std::size_t i = 0; i < 5; ++i) {
      if (!given[i]) continue;
      blocks_[i].host = reinterpret_cast<std::byte*>(operands[i]->data());
      blocks_[i].bytes = operands[i]->size() * sizeof(float);
      views_[i] = {&blocks_[i], t.offset * sizeof(float), blocks_[i].bytes - t.offset * sizeof(float),
                   DType::f32};
    }
  }
  BoundMatmul(const BoundMatmul&) = delete;
  BoundMatmul& operator=(const BoundMatmul&) = delete;
  void run() const { kernel_(context_, std::span<const View>(views_), &t_.p); }

 private:
  MatmulCase& t_;
  cpu::CpuContext& context_;
  cpu::CpuKernel kernel_ = nullptr;
  Block blocks_[5];
  View views_[5];
};

inline void MatmulCase::run(cpu::SimdLevel level, ThreadPool& pool) {
  cpu::CpuContext context(pool);
  BoundMatmul(*this, level, context).run();
}

inline std::vector<cpu::SimdLevel> matmul_levels() {
  std::vector<cpu::SimdLevel> levels;
  for (int i = 0; i < cpu::simd_level_count; ++i) {
    if (cpu::supported(static_cast<cpu::SimdLevel>(i))) levels.push_back(static_cast<cpu::SimdLevel>(i));
  }
  return levels;
}

inline bool same_bytes(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

/// Number of elements further from the naive product than rounding of k + 2 steps explains; cells outside the
/// product that changed count too.
inline int wrong_elements(const MatmulCase& t, const std::vector<float>& before) {
  int wrong = 0;
  std::vector<bool> inside(t.c.size());
  for (std::size_t b0 = 0; b0 < t.p.batch0; ++b0) {
    for (std::size_t b1 = 0; b1 < t.p.batch1; ++b1) {
      for (std::size_t i = 0; i < t.p.m; ++i) {
        for (std::size_t j = 0; j < t.p.n; ++j) {
          const std::size_t at = t.c_index(b0, b1, i, j);
          inside[at] = true;
          const double expected = t.naive(b0, b1, i, j, before);
          const double bound = 6e-8 * (t.p.k + 2.0) * std::sqrt(t.p.k + 2.0);
          if (!(std::abs(static_cast<double>(t.c[at]) - expected) <= bound)) ++wrong;
        }
      }
    }
  }
  for (std::size_t i = 0; i < t.c.size(); ++i) {
    if (!inside[i] && t.c[i] != before[i]) ++wrong;
  }
  return wrong;
}

}  // namespace llmtool::test
