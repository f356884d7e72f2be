// Which function computes a kernel at which SIMD level. Filled by explicit calls, one per kernel family, so
// that nothing depends on the order of static initialisation or is dropped from a static library. Not here:
// the choice of the level.
#pragma once
#include <array>
#include <span>

#include "cpu/context.h"
#include "cpu/simd_level.h"
#include "device/kernel_id.h"
#include "device/view.h"

namespace llmtool::cpu {

/// One kernel at one level. `params` is the struct that kernels.def names. The arguments have been checked.
using CpuKernel = void (*)(CpuContext& context, std::span<const View> views, const void* params);

/// The kernels of one level.
class KernelRow {
 public:
  CpuKernel& operator[](KernelId id) noexcept { return kernels_[static_cast<std::size_t>(id)]; }
  CpuKernel operator[](KernelId id) const noexcept { return kernels_[static_cast<std::size_t>(id)]; }

 private:
  std::array<CpuKernel, kernel_count> kernels_{};
};

class KernelTable {
 public:
  KernelRow& operator[](SimdLevel level) noexcept { return rows_[static_cast<std::size_t>(level)]; }
  const KernelRow& operator[](SimdLevel level) const noexcept {
    return rows_[static_cast<std::size_t>(level)];
  }

 private:
  std::array<KernelRow, simd_level_count> rows_{};
};

// The families; each adds its kernels to every level compiled in.
void register_binary(KernelTable& table);
void register_unary(KernelTable& table);
void register_unary_backward(KernelTable& table);
void register_swiglu(KernelTable& table);
void register_reduce(KernelTable& table);
void register_softmax(KernelTable& table);
void register_layout(KernelTable& table);
void register_matmul(KernelTable& table);
void register_norms(KernelTable& table);
void register_rope(KernelTable& table);
void register_attention(KernelTable& table);
void register_attention_backward(KernelTable& table);
void register_dropout(KernelTable& table);
void register_cross_entropy(KernelTable& table);
void register_optimizers(KernelTable& table);

/// All families, all levels; made at the first call.
const KernelTable& kernel_table();

}  // namespace llmtool::cpu
