// One case of the kernel matrix: a kernel, its arguments as plain words, its parameters, and how close
// results must be. Not here: which cases there are (cases_*.cpp), and how they are run and compared (run.h).
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/kernel_id.h"
#include "device/view.h"

namespace llmtool::kernel_test {

/// Memory that no kernel should read, as a NaN of its own: it marks what an output left untouched, too.
inline constexpr std::uint32_t untouched = 0x7fc0beef;

struct Operand {
  DType dtype = DType::f32;
  std::vector<std::uint32_t> words;  ///< Empty: the argument is left out.
  std::uint32_t shift = 0;           ///< Elements by which the view is moved off the allocation's alignment.
};

inline Operand floats(const std::vector<float>& values) {
  Operand operand;
  for (const float value : values) operand.words.push_back(std::bit_cast<std::uint32_t>(value));
  return operand;
}
inline Operand ids(const std::vector<std::int32_t>& values) {
  Operand operand;
  operand.dtype = DType::i32;
  for (const std::int32_t value : values) operand.words.push_back(static_cast<std::uint32_t>(value));
  return operand;
}
/// An output of n elements whose content before the launch must not matter.
inline Operand output(std::size_t n) {
  Operand operand;
  operand.words.assign(n, untouched);
  return operand;
}
inline Operand absent() { return {}; }
/// StepParams or StepStats.
template <class Struct>
Operand words_of(const Struct& value) {
  Operand operand;
  operand.words.resize(sizeof value / 4);
  std::memcpy(operand.words.data(), &value, sizeof value);
  return operand;
}

struct Case {
  KernelId id{};
  std::string what;  ///< Sizes and variant, for the failure message.
  std::vector<Operand> operands;
  std::vector<std::byte> params;
  /// Allowed: |y - ref| <= relative |ref| + 1e-7 max|ref| (norms over the output) + noise per element.
  double relative = 2e-6;
  /// The rounding of terms that cancel, where the result is small beside what it is made from.
  double noise = 0;
  /// The output is a list of (high, low) pairs: only their sums are compared.
  bool pairs = false;
};

/// A case with the kernel's own parameter struct, so that a wrong one does not compile.
template <KernelId id>
Case make_case(std::string what, std::vector<Operand> operands, const typename KernelParams<id>::type& params,
               double relative = 2e-6, double noise = 0) {
  Case c;
  c.id = id;
  c.what = std::move(what);
  c.operands = std::move(operands);
  c.params.resize(sizeof params);
  std::memcpy(c.params.data(), &params, sizeof params);
  c.relative = relative;
  c.noise = noise;
  return c;
}

using Cases = std::vector<Case>;

/// All cases of all kernels; made at the first call.
const Cases& all_cases();

// The families; each adds the cases of its kernels.
void add_elementwise_cases(Cases& cases);
void add_unary_cases(Cases& cases);
void add_shape_cases(Cases& cases);
void add_row_cases(Cases& cases);
void add_loss_cases(Cases& cases);
void add_matmul_cases(Cases& cases);
void add_attention_cases(Cases& cases);
void add_optimizer_cases(Cases& cases);

/// The sizes where vector code changes its mind: around 1, 16, 32, 64 and 128.
inline const std::vector<std::uint32_t>& sizes() {
  static const std::vector<std::uint32_t> list{1, 2, 3, 15, 16, 17, 31, 33, 64, 127};
  return list;
}

/// n floats, uniform in [low, high); equal seeds give equal floats.
std::vector<float> uniform(std::size_t n, std::uint64_t seed, float low = -2, float high = 2);

/// The output of an accumulating kernel: random where it adds, untouched where it overwrites.
inline Operand result(std::size_t n, std::uint32_t accumulate, std::uint64_t seed = 99) {
  return accumulate != 0 ? floats(uniform(n, seed)) : output(n);
}

}  // namespace llmtool::kernel_test
