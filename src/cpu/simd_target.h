// Included first by every kernel source, after `#define HWY_TARGET_INCLUDE "cpu/<itself>.cpp"`: compiles the
// rest of that source once per SIMD target, each time with another HWY_NAMESPACE. Highway's headers only: its
// library, which HWY_EXPORT would need, is not linked; kernel_table.h holds what that would do. On purpose
// without an include guard.
//
// A kernel source looks like this:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "cpu/norms.cpp"
//   #include "cpu/simd_target.h"
//   #include "cpu/simd-inl.h"
//   HWY_BEFORE_NAMESPACE();
//   namespace llmtool::cpu::HWY_NAMESPACE {
//   namespace { ... kernels; lambdas take HWY_ATTR after their parameters ... }
//   void register_norms(KernelRow& row) { row[KernelId::layer_norm] = layer_norm; }
//   }
//   HWY_AFTER_NAMESPACE();
//   #if HWY_ONCE
//   LLMTOOL_REGISTER_LEVELS(register_norms)
//   #endif
#ifndef LLMTOOL_CPU_SIMD_TARGETS
#define LLMTOOL_CPU_SIMD_TARGETS
// scalar is always the one-lane target, so that it gives the same bits with every compiler.
#define HWY_BROKEN_EMU128 1
#define LLMTOOL_NEVER_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#ifdef LLMTOOL_FEW_SIMD_LEVELS
#define HWY_DISABLED_TARGETS (LLMTOOL_NEVER_TARGETS | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS LLMTOOL_NEVER_TARGETS
#endif
#define HWY_COMPILE_ALL_ATTAINABLE 1
#define HWY_DISABLE_PCLMUL_AES 1
#include "cpu/kernel_table.h"
#endif

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// LLMTOOL_REGISTER_LEVELS(f) defines cpu::f(KernelTable&), which calls <target namespace>::f(table[level])
// for every level compiled in that this processor runs: the function itself is compiled with its
// instructions.
#ifndef LLMTOOL_REGISTER_LEVELS
#if HWY_TARGETS & HWY_SCALAR
#define LLMTOOL_REGISTER_SCALAR(f) N_SCALAR::f(table[SimdLevel::scalar]);
#else
#define LLMTOOL_REGISTER_SCALAR(f)
#endif
#if HWY_TARGETS & HWY_SSE4
#define LLMTOOL_REGISTER_SSE4(f) \
  if (supported(SimdLevel::sse4)) N_SSE4::f(table[SimdLevel::sse4]);
#else
#define LLMTOOL_REGISTER_SSE4(f)
#endif
#if HWY_TARGETS & HWY_AVX2
#define LLMTOOL_REGISTER_AVX2(f) \
  if (supported(SimdLevel::avx2)) N_AVX2::f(table[SimdLevel::avx2]);
#else
#define LLMTOOL_REGISTER_AVX2(f)
#endif
#if HWY_TARGETS & HWY_AVX3
#define LLMTOOL_REGISTER_AVX512(f) \
  if (supported(SimdLevel::avx512)) N_AVX3::f(table[SimdLevel::avx512]);
#else
#define LLMTOOL_REGISTER_AVX512(f)
#endif
#if HWY_TARGETS & HWY_NEON
#define LLMTOOL_REGISTER_NEON(f) \
  if (supported(SimdLevel::neon)) N_NEON::f(table[SimdLevel::neon]);
#else
#define LLMTOOL_REGISTER_NEON(f)
#endif
#define LLMTOOL_REGISTER_LEVELS(f) \
  namespace llmtool::cpu {         \
  void f(KernelTable& table) {     \
    LLMTOOL_REGISTER_SCALAR(f)     \
    LLMTOOL_REGISTER_SSE4(f)       \
    LLMTOOL_REGISTER_AVX2(f)       \
    LLMTOOL_REGISTER_AVX512(f)     \
    LLMTOOL_REGISTER_NEON(f)       \
  }                                \
  }  // namespace llmtool::cpu
#endif
