// Dispatch of the reference kernels, made from kernels.def: a kernel without a reference does not compile.
#include "ref/reference_kernels.h"

#include <cstring>

#include "ref/kernels_attention.h"
#include "ref/kernels_elementwise.h"
#include "ref/kernels_matmul.h"
#include "ref/kernels_optimizer.h"
#include "ref/kernels_rows.h"
#include "ref/kernels_shape.h"

namespace llmtool::ref {
namespace {

template <class Params>
Params params_at(const void* params) {
  Params p;
  std::memcpy(&p, params, sizeof p);
  return p;
}

template <class Params>
bool accumulate_of(const Params& params) {
  if constexpr (requires { params.accumulate; }) {
    return params.accumulate != 0;
  } else {
    return false;
  }
}

}  // namespace

template <class T>
void run_kernel(KernelId id, Arguments<T>& arguments, const void* params) {
  switch (id) {
#define KERNEL(name, struct_name, accesses, grid, dtypes)        \
  case KernelId::name:                                           \
    kernels::name<T>(arguments, params_at<struct_name>(params)); \
    return;
#include "device/kernels.def"
#undef KERNEL
    case KernelId::count:
      break;
  }
  LLMTOOL_CHECK(false, "no kernel ", static_cast<int>(id));
}

template void run_kernel<double>(KernelId, Arguments<double>&, const void*);
template void run_kernel<Dual>(KernelId, Arguments<Dual>&, const void*);

bool accumulates(KernelId id, const void* params) {
  switch (id) {
#define KERNEL(name, struct_name, accesses, grid, dtypes) \
  case KernelId::name:                                    \
    return accumulate_of(params_at<struct_name>(params));
#include "device/kernels.def"
#undef KERNEL
    case KernelId::count:
      break;
  }
  return false;
}

}  // namespace llmtool::ref
