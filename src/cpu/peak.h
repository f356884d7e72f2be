// The processor's highest rate of fused multiply-adds, measured: what a matrix product is held against. For
// benchmarks; nothing computed depends on it.
#pragma once
#include "base/threads.h"
#include "cpu/simd_level.h"

namespace llmtool::cpu {

/// Floating-point operations per second, in 1e9, of all threads of the pool together: independent chains of
/// MulAdd in registers at `level` for about `milliseconds`. A multiply-add counts as two.
double measure_fma_peak_gflops(ThreadPool& pool, SimdLevel level, double milliseconds = 5);

/// The same at the level that choose_level_from_environment() gives.
double measure_fma_peak_gflops(ThreadPool& pool);

}  // namespace llmtool::cpu
