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

/// Gradients of gain and bias come from one launch, which adds to both or overwrites both.
struct GainAndBias {
  Tensor gain;  ///< Thrown away where nobody wants it: the kernel needs the place.
  View bias;
  std::uint32_t accumulate = 0;
};

GainAndBias gain_and_bias_targets(Backward& back, std::int64_t cols) {
  const GradTarget dgain = back.target(1);
  const GradTarget dbias = back.target(2);
  GainAndBias out;
  out.accumulate = dgain ? dgain.accumulate : dbias.accumulate;
  if (dgain && dbias && dgain.accumulate != dbias.accumulate) {
    const GradTarget& fresh = dgain.accumulate == 0 ? dgain : dbias;
    back.device().fill(fresh.view(), 0);
    out.accumulate = 1;
  }
  out.gain = dgain ? dgain.into : Tensor::zeros(back.device(), {cols});
  if (dbias) out.bias = dbias.view();
  return out;
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
                  if (back.wants(1) || back.wants(2)) {
                    const GainAndBias to = gain_and_bias_targets(back, params.cols);
                    launch<KernelId::layer_norm_backward_params>(
                        back.device(), {kept, stats.view(), dy, to.gain.view(), to.bias},
                        accumulating(params, to.accumulate));
                  }
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
