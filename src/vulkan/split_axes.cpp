// The axes of every kernel, family by family; see split_axes.h.
#include "vulkan/split_axes.h"

#include <algorithm>
#include <initializer_list>

#include "vulkan/dimensions.h"

namespace llmtool::vulkan {
namespace {

constexpr std::uint64_t flat_quantum = 64;  // elements; 256 bytes, an alignment that suits every device

/// An axis whose views move by these steps, in the order of the arguments.
Axis axis_of(std::uint64_t extent, std::initializer_list<std::uint64_t> steps) {
  Axis axis;
  axis.extent = extent;
  std::size_t i = 0;
  for (const std::uint64_t step : steps) axis.views[i++].step = step;
  return axis;
}
Axis with_quantum(Axis axis, std::uint64_t quantum) {
  axis.quantum = quantum;
  return axis;
}

constexpr auto nothing_more = [](auto&, auto&, std::uint32_t) {};

/// Halves one field of the parameters; `more` sees both structs afterwards.
template <class Params, class More = decltype(nothing_more)>
Axis halving(std::uint32_t Params::*field, Axis axis, More more = nothing_more) {
  axis.cut = [field, more](Launch& first, Launch& second, std::uint32_t at) {
    Params p = first.params_as<Params>(), q = p;
    p.*field = at;
    q.*field -= at;
    more(p, q, at);
    first.set_params(p);
    second.set_params(q);
  };
  return axis;
}

/// The same, and the second piece's window[index] starts `at` further on.
template <class Params>
Axis moving_window(std::uint32_t Params::*field, std::size_t index, Axis axis) {
  Axis plain = halving(field, std::move(axis));
  plain.cut = [cut = std::move(plain.cut), index](Launch& first, Launch& second, std::uint32_t at) {
    cut(first, second, at);
    second.window[index] += at;
  };
  return plain;
}

Axes unary(const Launch& launch) {
  const auto p = launch.params_as<UnaryParams>();
  return {{halving(&UnaryParams::n, with_quantum(axis_of(p.n, {1, 1, 1}), flat_quantum))}};
}

Axes dropout(const Launch& launch) {
  const auto p = launch.params_as<DropoutParams>();
  return {{moving_window(&DropoutParams::n, 0, with_quantum(axis_of(p.n, {1, 0, 1}), flat_quantum))}};
}

Axes optimizer(const Launch& launch) {
  const auto p = launch.params_as<OptimizerParams>();
  const Axis axis =
      launch.id == KernelId::adamw ? axis_of(p.n, {1, 1, 1, 1, 0, 0}) : axis_of(p.n, {1, 1, 1, 0, 0});
  return {{halving(&OptimizerParams::n, with_quantum(axis, flat_quantum),
                   [](OptimizerParams& first, OptimizerParams& second, std::uint32_t at) {
                     first.n_decay = std::min(first.n_decay, at);
                     second.n_decay -= first.n_decay;
                   })}};
}

/// The outermost dimension larger than 1, or 4.
int outermost(const Dims& shape) {
  int d = 0;
  while (d < 4 && shape[d] == 1) ++d;
  return d;
}
std::uint32_t elements_within(const Dims& shape, int d) {
  std::uint32_t n = 1;
  while (++d < 4) n *= shape[d];
  return n;
}

/// Halves shape[d] of a struct that has n and shape, where everything outside of d is 1.
template <class Params, class More = decltype(nothing_more)>
Axis halving_shape(int d, Axis axis, More more = nothing_more) {
  if (d == 3) axis.quantum = flat_quantum;
  axis.cut = [d, more](Launch& first, Launch& second, std::uint32_t at) {
    Params p = first.params_as<Params>(), q = p;
    p.shape[d] = at;
    q.shape[d] -= at;
    p.n = at * elements_within(p.shape, d);
    q.n -= p.n;
    more(p, q, at);
    first.set_params(p);
    second.set_params(q);
  };
  return axis;
}

Axes broadcast(const Launch& launch) {
  const auto p = launch.params_as<BroadcastParams>();
  const int d = outermost(p.shape);
  if (d == 4) return {};
  return {{halving_shape<BroadcastParams>(
              d, axis_of(p.shape[d], {p.a_stride[d], p.b_stride[d], elements_within(p.shape, d)}))},
          true};
}

/// Along every dimension. A cut that is not along the outermost makes pieces that are blocks of y with gaps
/// between their rows: the window then holds the strides of y. So a transposition can be cut until the rows
/// of x and the rows of y that a piece touches both fit.
Axes permute(const Launch& launch) {
  const auto p = launch.params_as<PermuteParams>();
  Axes axes;
  for (int d = 0; d < 4; ++d) {
    std::array<std::uint32_t, 4> y_stride = launch.window;
    for (int i = 0; y_stride[3] == 0 && i < 3; ++i)
      y_stride[static_cast<std::size_t>(i)] = elements_within(p.shape, i);
    if (y_stride[3] == 0) y_stride[3] = 1;
    const bool stays_contiguous = launch.window[3] == 0 && d <= outermost(p.shape);
    Axis axis = axis_of(p.shape[d], {p.x_stride[d], y_stride[static_cast<std::size_t>(d)]});
    if (d == 3) axis.quantum = flat_quantum;
    axis.cut = [=](Launch& first, Launch& second, std::uint32_t at) {
      PermuteParams q = first.params_as<PermuteParams>(), r = q;
      q.shape[d] = at;
      r.shape[d] -= at;
      q.n = q.n / p.shape[d] * at;
      r.n -= q.n;
      first.set_params(q);
      second.set_params(r);
      if (!stays_contiguous) first.window = second.window = y_stride;
    };
    axes.list.push_back(std::move(axis));
  }
  return axes;
}

/// sum_to (x, y), expand (x, y): where a sum's dimension is cut, later pieces add to what the first made.
Axes reduction(const Launch& launch) {
  const auto p = launch.params_as<ReduceParams>();
  const int d = outermost(p.shape);
  if (d == 4) return {};
  const bool kept = p.out_shape[d] == p.shape[d], sum = launch.id == KernelId::sum_to;
  const std::uint64_t of_shape = elements_within(p.shape, d);
  const std::uint64_t of_out = kept ? elements_within(p.out_shape, d) : 0;
  const Axis axis = sum ? axis_of(p.shape[d], {of_shape, of_out}) : axis_of(p.shape[d], {of_out, of_shape});
  return {{halving_shape<ReduceParams>(d, axis,
                                       [=](ReduceParams& first, ReduceParams& second, std::uint32_t at) {
                                         if (kept) {
                                           first.out_shape[d] = at;
                                           second.out_shape[d] -= at;
                                         } else if (sum) {
                                           second.accumulate = 1;
                                         }
                                       })},
          true};
}

Axes swiglu(const Launch& launch) {
  const auto p = launch.params_as<SwigluParams>();
  const std::uint64_t c = p.cols;
  const Axis axis =
      launch.id == KernelId::swiglu ? axis_of(p.rows, {2 * c, c}) : axis_of(p.rows, {2 * c, c, 2 * c});
  return {{halving(&SwigluParams::rows, axis)}};
}

Axes softmax(const Launch& launch) {
  const auto p = launch.params_as<RowsParams>();
  return {{halving(&RowsParams::rows, axis_of(p.rows, {p.cols, p.cols, p.cols}))}};
}

Axes cross_entropy(const Launch& launch) {
  const auto p = launch.params_as<CrossEntropyParams>();
  return {{halving(&CrossEntropyParams::rows, axis_of(p.rows, {p.cols, 1, 0, 1}))}};
}

Axes norm(const Launch& launch) {
  const auto p = launch.params_as<NormParams>();
  const std::uint64_t c = p.cols;
  const auto by_rows = [&](std::initializer_list<std::uint64_t> steps) {
    return Axes{{halving(&NormParams::rows, axis_of(p.rows, steps))}};
  };
  // Gradients of parameters are sums over rows: later pieces add.
  const auto by_terms = [&](std::initializer_list<std::uint64_t> steps) {
    return Axes{{halving(&NormParams::rows, axis_of(p.rows, steps),
                         [](NormParams&, NormParams& second, std::uint32_t) { second.accumulate = 1; })}};
  };
  switch (launch.id) {
    case KernelId::layer_norm:
      return by_rows({c, 0, 0, c, 2});
    case KernelId::layer_norm_backward:
      return by_rows({c, 0, 2, c, c});
    case KernelId::layer_norm_backward_params:
      return by_terms({c, 2, c, 0, 0});
    case KernelId::rms_norm:
      return by_rows({c, 0, c, 1});
    case KernelId::rms_norm_backward:
      return by_rows({c, 0, 1, c, c});
    default:
      return by_terms({c, 1, c, 0});
  }
}

/// By batch entries, and within one by tokens.
Axes rope(const Launch& launch) {
  const auto p = launch.params_as<RopeParams>();
  const std::uint64_t token = std::uint64_t{p.heads} * p.head_size, entry = token * p.tokens;
  if (p.batch > 1) return {{halving(&RopeParams::batch, axis_of(p.batch, {entry, 0, entry}))}};
  return {{halving(&RopeParams::tokens, axis_of(p.tokens, {token, 0, token}),
                   [](RopeParams&, RopeParams& second, std::uint32_t at) { second.position0 += at; })}};
}

/// (table, ids, y): by rows of y, or by windows of the table.
Axes gather(const Launch& launch) {
  const auto p = launch.params_as<GatherParams>();
  return {{halving(&GatherParams::rows, axis_of(p.rows, {0, 1, p.cols})),
           moving_window(&GatherParams::table_rows, 0, axis_of(p.table_rows, {p.cols, 0, 0}))}};
}

/// (dy, plan, table): by windows of dy, which leave the plan and its row count whole, or of the table.
Axes scatter(const Launch& launch) {
  const auto p = launch.params_as<GatherParams>();
  Axis rows = axis_of(launch.window[3] != 0 ? launch.window[3] : p.rows, {p.cols, 0, 0});
  rows.cut = [count = static_cast<std::uint32_t>(rows.extent)](Launch& first, Launch& second,
                                                               std::uint32_t at) {
    first.window[3] = at;
    second.window[2] += at;
    second.window[3] = count - at;
  };
  return {
      {std::move(rows), moving_window(&GatherParams::table_rows, 0, axis_of(p.table_rows, {0, 0, p.cols}))}};
}

/// By parts, of which the last may be short or empty; window[0] keeps how many elements a part has.
Axes grad_norm_partial(const Launch& launch) {
  const auto p = launch.params_as<GradNormPartialParams>();
  const std::uint32_t part = launch.window[0] != 0 ? launch.window[0] : (p.n - 1) / p.groups + 1;
  Axis axis = axis_of((std::uint64_t{p.n} + part - 1) / part, {part, 0});
  axis.views[0].span = part;
  axis = halving(&GradNormPartialParams::groups, std::move(axis),
                 [part](GradNormPartialParams& first, GradNormPartialParams& second, std::uint32_t at) {
                   first.n = at * part;
                   second.n -= first.n;
                   second.first += at;
                 });
  axis.cut = [cut = std::move(axis.cut), part](Launch& first, Launch& second, std::uint32_t at) {
    cut(first, second, at);
    first.window[0] = second.window[0] = part;
  };
  return {{std::move(axis)}};
}

/// (a, b, bias, pre, c): by batches, then by rows and columns of c, at last by the inner size, whose later
/// pieces go on adding to c.
Axes matmul(const Launch& launch) {
  const auto p = launch.params_as<MatmulParams>();
  const bool nt = p.form == LLMTOOL_MATMUL_NT, tn = p.form == LLMTOOL_MATMUL_TN;
  const std::uint64_t lda = p.lda, ldb = p.ldb, ldc = p.ldc;
  Axes axes;
  axes.list.push_back(halving(
      &MatmulParams::batch0, axis_of(p.batch0, {p.a_batch[0], p.b_batch[0], 0, p.c_batch[0], p.c_batch[0]})));
  axes.list.push_back(halving(
      &MatmulParams::batch1, axis_of(p.batch1, {p.a_batch[1], p.b_batch[1], 0, p.c_batch[1], p.c_batch[1]})));
  axes.list.push_back(
      halving(&MatmulParams::m, with_quantum(axis_of(p.m, {tn ? 1 : lda, 0, 0, ldc, ldc}), 64)));
  axes.list.push_back(halving(&MatmulParams::n, with_quantum(axis_of(p.n, {0, nt ? ldb : 1, 1, 1, 1}), 64)));
  if (!launch.views[2] && !launch.views[3] && p.activation == LLMTOOL_ACT_NONE) {
    axes.list.push_back(
        halving(&MatmulParams::k, with_quantum(axis_of(p.k, {tn ? lda : 1, nt ? 1 : ldb, 0, 0, 0}), 64),
                [](MatmulParams&, MatmulParams& second, std::uint32_t) { second.accumulate = 1; }));
  }
  return axes;
}

/// By batch entries; the samples that dropout counts move along.
Axes attention(const Launch& launch) {
  const auto p = launch.params_as<AttentionParams>();
  const std::uint64_t q = p.q_batch, kv = p.kv_batch, out = std::uint64_t{p.tokens} * p.heads * p.head_size;
  const std::uint64_t stats = std::uint64_t{p.tokens} * p.heads * 2;
  const auto by_batch = [&](std::initializer_list<std::uint64_t> steps) {
    return Axes{
        {halving(&AttentionParams::batch, axis_of(p.batch, steps),
                 [](AttentionParams&, AttentionParams& second, std::uint32_t at) { second.sample0 += at; })}};
  };
  switch (launch.id) {
    case KernelId::attention:
      return by_batch({q, kv, kv, 0, out, stats});
    case KernelId::attention_delta:
      return by_batch({out, out, stats});
    case KernelId::attention_backward_q:
      return by_batch({q, kv, kv, stats, out, 0, q});
    default:
      return by_batch({q, kv, kv, stats, out, 0, kv, kv});
  }
}

}  // namespace

Axes axes_of(const Launch& launch) {
  switch (launch.id) {
    case KernelId::add:
    case KernelId::sub:
    case KernelId::mul:
    case KernelId::div:
    case KernelId::pow:
    case KernelId::pow_da:
    case KernelId::pow_db:
      return broadcast(launch);
    case KernelId::swiglu:
    case KernelId::swiglu_backward:
      return swiglu(launch);
    case KernelId::sum_to:
    case KernelId::expand:
      return reduction(launch);
    case KernelId::softmax:
    case KernelId::log_softmax:
    case KernelId::softmax_backward:
    case KernelId::log_softmax_backward:
      return softmax(launch);
    case KernelId::permute:
      return permute(launch);
    case KernelId::gather_rows:
      return gather(launch);
    case KernelId::scatter_rows:
      return scatter(launch);
    case KernelId::matmul:
      return matmul(launch);
    case KernelId::layer_norm:
    case KernelId::layer_norm_backward:
    case KernelId::layer_norm_backward_params:
    case KernelId::rms_norm:
    case KernelId::rms_norm_backward:
    case KernelId::rms_norm_backward_params:
      return norm(launch);
    case KernelId::rope:
      return rope(launch);
    case KernelId::attention:
    case KernelId::attention_delta:
    case KernelId::attention_backward_q:
    case KernelId::attention_backward_kv:
      return attention(launch);
    case KernelId::dropout:
      return dropout(launch);
    case KernelId::cross_entropy:
      return cross_entropy(launch);
    case KernelId::grad_norm_partial:
      return grad_norm_partial(launch);
    case KernelId::grad_norm_finish:
      return {};
    case KernelId::adamw:
    case KernelId::sgd:
      return optimizer(launch);
    default:
      LLMTOOL_CHECK(kernel_info(launch.id).params_bytes == sizeof(UnaryParams), "no axes for ",
                    kernel_info(launch.id).name);
      return unary(launch);
  }
}

}  // namespace llmtool::vulkan
