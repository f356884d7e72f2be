// Normalisation over the last dimension; see norm.h.
#include "ops/norm.h"

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

void check_norm(const char* op, const Tensor& x, const Tensor& gain, const Tensor& bias) {
  require_last_dimension(op, x);
  const Shape wanted{x.shape().cols()};
  if (!(gain.shape() == wanted)) {
    throw request_error(cat("[", op, "] gain must be ", wanted.str(), " for x ", x.shape().str(), ", is ",
                            gain.shape().str()));
  }
  if (bias.defined() && !(bias.shape() == wanted)) {
    throw request_error(cat("[", op, "] bias must be ", wanted.str(), " for x ", x.shape().str(), ", is ",
                            bias.shape().str()));
  }
}

NormParams norm_params(const Shape& shape, float eps) {
  return {u32(shape.rows()), u32(shape.cols()), eps, 0};
}

NormParams accumulating(NormParams params, std::uint32_t accumulate) {
  params.accumulate = accumulate;
  return params;
}

/// dgain and dbias. One launch makes both, and adds to both or overwrites both.
void send_gain_and_bias(Backward& back, const NormParams& params, const View& x, const View& stats) {
  const View dy = back.grad().view();
  const GradTarget dgain = back.target(1);
  const GradTarget dbias = back.target(2);
  std::uint32_t accumulate = dgain ? dgain.accumulate : dbias.accumulate;
  // One tensor in both places has one gradient: the bias's part is added on its own.
  const bool same = dgain && dbias && dgain.into.storage() == dbias.into.storage() &&
                    dgain.into.byte_offset() == dbias.into.byte_offset();
  if (dgain && dbias && !same && dgain.accumulate != dbias.accumulate) {
    const GradTarget& fresh = dgain.accumulate == 0 ? dgain : dbias;
    back.device().fill(fresh.view(), 0);
    accumulate = 1;
  }
  // The kernel needs a place for dgain, wanted or not.
  const Tensor gain_place = dgain ? dgain.into : Tensor::zeros(back.device(), {params.cols});
  const View bias_place = dbias && !same ? dbias.view() : View{};
  launch<KernelId::layer_norm_backward_params>(back.device(), {x, stats, dy, gain_place.view(), bias_place},
                                               accumulating(params, accumulate));
  if (same)
    launch_sum_to(back.device(), dy, {params.rows, params.cols}, dbias.view(), {params.cols}, 1.0F, 1);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float eps) {
  check_norm("layer_norm", x, gain, bias);
  Device& device = operands("layer_norm", {x, gain, bias});
  const NormParams params = norm_params(x.shape(), eps);
  Tensor y = Tensor::empty(device, x.shape());
  const Tensor stats = Tensor::empty(device, {x.shape().rows(), 2});
  const View bias_view = bias.defined() ? bias.view() : View{};
  launch<KernelId::layer_norm>(device, {x.view(), gain.view(), bias_view, y.view(), stats.view()}, params);
  return record("layer_norm", y, {x, gain, bias},
                [params, stats, x_kept = Saved(x), gain_kept = Saved(gain)](Backward& back) {
                  const View dy = back.grad().view();
                  const View kept = x_kept.get().view();
                  if (const GradTarget dx = back.target(0)) {
                    launch<KernelId::layer_norm_backward>(
                        back.device(), {kept, gain_kept.get().view(), stats.view(), dy, dx.view()},
                        accumulating(params, dx.accumulate));
                  }
                  if (back.wants(1) || back.wants(2)) send_gain_and_bias(back, params, kept, stats.view());
                });
}

Tensor rms_norm(const Tensor& x, const Tensor& gain, float eps) {
  check_norm("rms_norm", x, gain, {});
  Device& device = operands("rms_norm", {x, gain});
  const NormParams params = norm_params(x.shape(), eps);
  Tensor y = Tensor::empty(device, x.shape());
  const Tensor stats = Tensor::empty(device, {x.shape().rows()});
  launch<KernelId::rms_norm>(device, {x.view(), gain.view(), y.view(), stats.view()}, params);
  return record(
      "rms_norm", y, {x, gain}, [params, stats, x_kept = Saved(x), gain_kept = Saved(gain)](Backward& back) {
        const View dy = back.grad().view();
        const View kept = x_kept.get().view();
        if (const GradTarget dx = back.target(0)) {
          launch<KernelId::rms_norm_backward>(back.device(),
                                              {kept, gain_kept.get().view(), stats.view(), dy, dx.view()},
                                              accumulating(params, dx.accumulate));
        }
        if (const GradTarget dgain = back.target(1)) {
          launch<KernelId::rms_norm_backward_params>(back.device(), {kept, stats.view(), dy, dgain.view()},
                                                     accumulating(params, dgain.accumulate));
        }
      });
}

}  // namespace llmtool::ops
