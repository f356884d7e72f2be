// Calls a CPU kernel of any SIMD level on vectors, without a device. Not here: any test.
#pragma once
#include <cstring>
#include <initializer_list>
#include <vector>

#include "base/threads.h"
#include "cpu/context.h"
#include "cpu/kernel_table.h"

namespace llmtool::test {

/// A view of a whole vector, which must outlive it.
class VectorView {
 public:
  template <class T>
  VectorView(std::vector<T>& v) {
    block_.bytes = v.size() * sizeof(T);
    block_.host = reinterpret_cast<std::byte*>(v.data());
  }
  operator View() const { return {&block_, 0, block_.bytes, DType::f32}; }

 private:
  Block block_;
};

/// The supported levels that have kernels.
inline std::vector<cpu::SimdLevel> levels() {
  std::vector<cpu::SimdLevel> list;
  for (int i = 0; i < cpu::simd_level_count; ++i) {
    const auto level = static_cast<cpu::SimdLevel>(i);
    if (cpu::supported(level) && cpu::kernel_table()[level][KernelId::add] != nullptr) list.push_back(level);
  }
  return list;
}

template <class Params>
void call(cpu::SimdLevel level, KernelId id, std::initializer_list<View> views, const Params& params,
          int threads = 1) {
  ThreadPool pool(threads);
  cpu::CpuContext context(pool);
  cpu::kernel_table()[level][id](context, {views.begin(), views.size()}, &params);
}

}  // namespace llmtool::test
