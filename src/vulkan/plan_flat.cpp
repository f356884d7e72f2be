// Plans of the elementwise kernels: one dispatch, an element a thread, in loops where the grid ends. Not
// here: kernels that move or sum elements (plan_shape.cpp).
#include "vulkan/dimensions.h"
#include "vulkan/plan.h"

namespace llmtool::vulkan {
namespace {

std::vector<Dispatch> over_elements(Dispatch dispatch, std::uint64_t n, double flops_each,
                                    const Limits& limits) {
  if (n == 0) return {};
  dispatch.groups[0] = groups_for(n, dispatch.constants[0], limits.max_groups);
  dispatch.flops = flops_each * static_cast<double>(n);
  return {std::move(dispatch)};
}

/// Broadcast arithmetic: constant 1 is how many dimensions are left after joining.
std::vector<Dispatch> broadcast(const Launch& launch, const Limits& limits) {
  auto p = launch.params_as<BroadcastParams>();
  Dispatch dispatch = dispatch_of(launch, limits.threads());
  const Joined j = join(p.shape, p.a_stride, p.b_stride);
  copy_dims(j.shape, p.shape);
  copy_dims(j.a, p.a_stride);
  copy_dims(j.b, p.b_stride);
  dispatch.set_params(p);
  dispatch.constants[1] = j.rank;
  return over_elements(std::move(dispatch), p.n, 1, limits);
}

}  // namespace

std::vector<Dispatch> plan_flat(const Launch& launch, const Limits& limits) {
  switch (launch.id) {
    case KernelId::add:
    case KernelId::sub:
    case KernelId::mul:
    case KernelId::div:
    case KernelId::pow:
    case KernelId::pow_da:
    case KernelId::pow_db:
      return broadcast(launch, limits);
    case KernelId::swiglu:
    case KernelId::swiglu_backward: {
      const auto p = launch.params_as<SwigluParams>();
      return over_elements(dispatch_of(launch, limits.threads()), std::uint64_t{p.rows} * p.cols, 20, limits);
    }
    case KernelId::dropout:
      return over_elements(dispatch_of(launch, limits.threads()), launch.params_as<DropoutParams>().n, 100,
                           limits);
    case KernelId::adamw:
    case KernelId::sgd:
      return over_elements(dispatch_of(launch, limits.threads()), launch.params_as<OptimizerParams>().n, 20,
                           limits);
    default:
      LLMTOOL_CHECK(kernel_info(launch.id).params_bytes == sizeof(UnaryParams), "no plan for ",
                    kernel_info(launch.id).name);
      return over_elements(dispatch_of(launch, limits.threads()), launch.params_as<UnaryParams>().n, 20,
                           limits);
  }
}

}  // namespace llmtool::vulkan
