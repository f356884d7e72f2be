// Which family of plans a kernel belongs to; see plan.h.
#include "vulkan/plan.h"

#include "device/cost.h"

namespace llmtool::vulkan {

Dispatch dispatch_of(const Launch& launch, std::uint32_t threads) {
  const KernelInfo& info = kernel_info(launch.id);
  Dispatch d;
  d.shader = info.name;
  d.accesses = info.accesses;
  d.views = launch.views;
  d.constants[0] = threads;
  d.params = launch.params;
  d.window = launch.window;
  d.bytes = cost_of(launch.id, launch.views, launch.params.data()).bytes;
  return d;
}

std::vector<Dispatch> plan(const Launch& launch, const Limits& limits, const Scratch& scratch) {
  switch (launch.id) {
    case KernelId::matmul:
      return plan_matmul(launch, limits, scratch);
    case KernelId::attention:
    case KernelId::attention_delta:
    case KernelId::attention_backward_q:
    case KernelId::attention_backward_kv:
      return plan_attention(launch, limits, scratch);
    case KernelId::sum_to:
    case KernelId::expand:
    case KernelId::permute:
    case KernelId::gather_rows:
    case KernelId::scatter_rows:
    case KernelId::rope:
      return plan_shape(launch, limits, scratch);
    case KernelId::softmax:
    case KernelId::log_softmax:
    case KernelId::softmax_backward:
    case KernelId::log_softmax_backward:
    case KernelId::layer_norm:
    case KernelId::layer_norm_backward:
    case KernelId::layer_norm_backward_params:
    case KernelId::rms_norm:
    case KernelId::rms_norm_backward:
    case KernelId::rms_norm_backward_params:
    case KernelId::cross_entropy:
    case KernelId::grad_norm_partial:
    case KernelId::grad_norm_finish:
      return plan_rows(launch, limits, scratch);
    default:
      return plan_flat(launch, limits);
  }
}

}  // namespace llmtool::vulkan
