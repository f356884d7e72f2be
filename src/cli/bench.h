// The parts of `llmtool bench` and how they report: each figure beside the limit it is held against. Not
// here: benchmarks of single kernels (tests/bench).
#pragma once
#include <string>

#include "cli/device_limits.h"
#include "formats/json.h"

namespace llmtool {

/// One figure and its limit, in the same unit.
struct BenchFigure {
  std::string part;  ///< gemm, train, generate, tokenize.
  std::string what;
  double value = 0;
  std::string unit;  ///< "GFLOP/s", "GB/s", "MB/s".
  double limit = 0;
  std::string limit_is;        ///< "measured FMA peak".
  std::string note;            ///< "12345 tokens/s"; may be empty.
  Json more = Json::object();  ///< What --json says besides.
};

/// What every part is given.
struct Bench {
  Device& device;
  Device* cpu;  ///< To compare with; null where `device` is the CPU.
  DeviceLimits limits;
  bool json = false;

  void report(const BenchFigure& figure) const;
};

/// Matrix products of both kinds of shapes and all forms, and elementwise operations. On a GPU beside the
/// CPU; world_error if a result differs by more than rounding explains.
void bench_gemm(const Bench& bench);
/// Training steps of a fixed small model.
void bench_train(const Bench& bench);
/// Greedy generation with the cache: every weight is read once for each token.
void bench_generate(const Bench& bench);
/// Encoding generated text with a byte-level BPE vocabulary, on one thread of the CPU.
void bench_tokenize(const Bench& bench);

}  // namespace llmtool
