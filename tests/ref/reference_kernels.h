// Runs one reference kernel by its id. The kernels themselves are in kernels_*.h.
#pragma once
#include "device/kernel_id.h"
#include "ref/arguments.h"

namespace llmtool::ref {

/// The kernel of that name from kernels_*.h on these arguments; `params` points at its parameter struct.
template <class T>
void run_kernel(KernelId id, Arguments<T>& arguments, const void* params);

/// params.accumulate, or false where the struct has no such field.
bool accumulates(KernelId id, const void* params);

}  // namespace llmtool::ref
