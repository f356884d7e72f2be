// The parameter structs of every kernel, shared word for word by C++ and GLSL. Each holds 32-bit fields only
// and at most 96 bytes (of the 128 that push constants have; Placement takes the rest). All sizes, strides
// and offsets are in elements, not bytes. What a kernel computes is stated here, above its struct: this page
// is the definition that every device is tested against.
//
// Words used below: `accumulate` 0: the last argument(s) marked A in kernels.def are overwritten, 1: added
// to. Rows are the leading dimensions multiplied together. An argument that is optional may be a view of 0
// bytes. Arguments stand in this order, unless said otherwise: forward (inputs, StepParams, outputs),
// backward (what the forward read and kept, then the incoming gradient dy, then StepParams, then the
// gradients made).
#ifndef LLMTOOL_KERNELS_PARAMS_H
#define LLMTOOL_KERNELS_PARAMS_H

#ifdef __cplusplus
#include <cstdint>
namespace llmtool {
#define LLMTOOL_UINT std::uint32_t
#define LLMTOOL_INT std::int32_t
#else
#define LLMTOOL_UINT uint
#define LLMTOOL_INT int
#endif

/// Activations that a matrix product can apply to its result.
#define LLMTOOL_ACT_NONE 0u
#define LLMTOOL_ACT_RELU 1u
#define LLMTOOL_ACT_GELU 2u       /* tanh form */
#define LLMTOOL_ACT_GELU_EXACT 3u /* erf form */

/// Transposition of a matrix product, by operand: NN, A x B^T, A^T x B.
#define LLMTOOL_MATMUL_NN 0u
#define LLMTOOL_MATMUL_NT 1u
#define LLMTOOL_MATMUL_TN 2u

/// How rotary pairs lie: (2i, 2i+1), or (i, i + D/2).
#define LLMTOOL_ROPE_ADJACENT 0u
#define LLMTOOL_ROPE_HALF 1u

/// Values that change from step to step, staged once per step; launches stay the same from step to step.
struct StepParams {
  float learning_rate;
  float bias_correction1;  // 1 / (1 - beta1^t), made in double on the host
  float bias_correction2;  // 1 / (1 - beta2^t)
  float grad_clip;         // 0: off
  float inv_targets;       // 1 / (targets that count in the whole step), 0 if none
  float loss_scale;        // 1; reserved for 16-bit gradients
  LLMTOOL_UINT step;       // attempted steps so far, from 0
  LLMTOOL_UINT dropout_key0;
  LLMTOOL_UINT dropout_key1;
  LLMTOOL_UINT reserved0;
  LLMTOOL_UINT reserved1;
  LLMTOOL_UINT reserved2;
};

/// What a step reports; one fetch brings it back.
struct StepStats {
  float loss;        // summed over the step's micro-batches, already divided by the targets that count
  float grad_norm;   // before clipping
  float clip_scale;  // what gradients were multiplied by; 0 where non_finite
  float non_finite;  // 1 if the loss or the norm is not finite: the update was skipped
};

/// add, sub, mul, div, pow, pow_da, pow_db: y[i] = f(a, b) over a 4-d output, contiguous, with operand
/// strides (0 where broadcast). add a+b, sub a-b, mul a*b, div a/b, pow a^b, pow_da b*a^(b-1) (0 where b =
/// 0), pow_db a^b*ln(a) (0 where a <= 0).
struct BroadcastParams {
  LLMTOOL_UINT n;
  LLMTOOL_UINT shape[4];
  LLMTOOL_UINT a_stride[4];
  LLMTOOL_UINT b_stride[4];
  LLMTOOL_UINT accumulate;
};

/// exp, log, sqrt, tanh, relu, gelu, gelu_exact, silu, affine (a*x + b), pow_scalar (x^a): y[i] = f(x[i]).
/// gelu: 0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3))); gelu_exact: 0.5 x (1 + erf(x / sqrt 2)); silu: x
/// sigmoid(x). The _backward kernels take (saved, dy, dx): saved is the forward's y for exp, sqrt and tanh,
/// else its x. dx = dy * f'. relu'(0) = 0. Forward: (x, y).
struct UnaryParams {
  LLMTOOL_UINT n;
  float a;
  float b;
  LLMTOOL_UINT accumulate;
};

/// swiglu: x (rows, 2*cols) = [gate | up], y (rows, cols) = silu(gate) * up. swiglu_backward: (x, dy, dx).
struct SwigluParams {
  LLMTOOL_UINT rows;
  LLMTOOL_UINT cols;
  LLMTOOL_UINT accumulate;
};

/// sum_to: y = scale * sum of x (4-d, contiguous, `shape`) over every dimension where out_shape is 1 and
/// shape is not; y is contiguous in out_shape. expand: the opposite, y (contiguous, `shape`) = scale * x
/// broadcast from out_shape.
struct ReduceParams {
  LLMTOOL_UINT n;  // elements of `shape`
  LLMTOOL_UINT shape[4];
  LLMTOOL_UINT out_shape[4];
  float scale;
  LLMTOOL_UINT accumulate;
};

/// softmax, log_softmax over the last dimension: x, y (rows, cols). The backwards take (y, dy, dx).
struct RowsParams {
  LLMTOOL_UINT rows;
  LLMTOOL_UINT cols;
  LLMTOOL_UINT accumulate;
};

/// permute: y (4-d, contiguous, `shape`) [i] = x[sum i_d * x_stride[d]].
struct PermuteParams {
  LLMTOOL_UINT n;
  LLMTOOL_UINT shape[4];
  LLMTOOL_UINT x_stride[4];
  LLMTOOL_UINT accumulate;
};

/// gather_rows (table, ids, y): y (rows, cols) = table[ids[r]], 0 for an id below 0.
/// scatter_rows (dy, plan, table): table[id] += the sum, in the order of `plan`, of the dy rows that have
/// that id. plan is i32: [count, unique ids (rows), starts (rows + 1), order (rows)]: unique id u owns
/// order[starts[u] .. starts[u+1]).
struct GatherParams {
  LLMTOOL_UINT rows;
  LLMTOOL_UINT cols;
  LLMTOOL_UINT table_rows;
};

/// matmul (a, b, bias, pre, c): c[b] = act(op(a[b]) op(b[b]) + bias) over batch0 x batch1 matrices, m x n
/// from an inner size k. `pre`, where given, gets the value before the activation. bias (n), optional.
/// accumulate excludes bias, pre and activation. Element (i, p) of op(a) is a[i*lda + p] (NN, NT) or a[p*lda
/// + i] (TN); element (p, j) of op(b) is b[p*ldb + j] (NN, TN) or b[j*ldb + p] (NT); c and pre are c[i*ldc +
/// j]. Every element is one chain of fused multiply-adds over ascending p that starts from 0, or from c with
/// accumulate; then the bias is added, then the activation applied.
struct MatmulParams {
  LLMTOOL_UINT form;
  LLMTOOL_UINT m;
  LLMTOOL_UINT n;
  LLMTOOL_UINT k;
  LLMTOOL_UINT lda;
  LLMTOOL_UINT ldb;
  LLMTOOL_UINT ldc;
  LLMTOOL_UINT batch0;
  LLMTOOL_UINT batch1;
  LLMTOOL_UINT a_batch[2];  // strides of batch0, batch1; 0 where broadcast
  LLMTOOL_UINT b_batch[2];
  LLMTOOL_UINT c_batch[2];
  LLMTOOL_UINT activation;
  LLMTOOL_UINT accumulate;
};

/// layer_norm: y = (x - mean) / sqrt(var + eps) * gain + bias per row (two-pass variance, divided by cols);
/// stats (rows, 2) = (mean, 1/sqrt(var + eps)). rms_norm: y = x / sqrt(mean(x^2) + eps) * gain; stats (rows)
/// = 1/sqrt(...).
/// *_backward gives dx; *_backward_params gives dgain (and dbias), summed over rows.
/// layer_norm (x, gain, bias, y, stats); layer_norm_backward (x, gain, stats, dy, dx);
/// layer_norm_backward_params (x, stats, dy, dgain, dbias); rms_norm (x, gain, y, stats);
/// rms_norm_backward (x, gain, stats, dy, dx); rms_norm_backward_params (x, stats, dy, dgain).
struct NormParams {
  LLMTOOL_UINT rows;
  LLMTOOL_UINT cols;
  float eps;
  LLMTOOL_UINT accumulate;
};

/// rope: x, y (batch, tokens, heads, head_size), contiguous; heads below `rotated` are turned by their
/// position position0 + t, the others copied. table (positions, head_size/2, 2) holds (cos, sin). inverse 1:
/// by the negative angle. Pair (u, v) becomes (u cos - v sin, u sin + v cos). Arguments (x, table, y).
struct RopeParams {
  LLMTOOL_UINT batch;
  LLMTOOL_UINT tokens;
  LLMTOOL_UINT heads;
  LLMTOOL_UINT rotated;
  LLMTOOL_UINT head_size;
  LLMTOOL_UINT style;
  LLMTOOL_UINT position0;
  LLMTOOL_UINT inverse;
  LLMTOOL_UINT accumulate;
};

/// Causal attention with grouped heads, softmax over scale * q.k, never storing the tokens x keys matrix.
/// Query t of a batch entry has position position0 + t and sees keys 0 .. position0 + t. Head h reads
/// key/value head h / (heads / kv_heads). Rows: q at q_batch*b + q_row*t + h*head_size; k and v at kv_batch*b
/// + kv_row*j + g*head_size; out (batch, tokens, heads*head_size) contiguous; dq, dk, dv lie as q, k, v do.
/// attention (q, k, v, StepParams, out, stats); attention_delta (out, dout, stats); attention_backward_q (q,
/// k, v, stats, dout, StepParams, dq); attention_backward_kv (q, k, v, stats, dout, StepParams, dk, dv).
/// StepParams may be left out without dropout. stats (batch, heads, tokens, 2): attention writes [0] =
/// log-sum-exp of the scaled scores; attention_delta writes [1] = sum over head_size of out * dout. Dropout
/// (drop_threshold > 0): probability (b, h, i, j) is kept, and multiplied by drop_scale, where the Philox
/// word of element ((sample0 + b)*heads + h)*tokens*keys + i*keys + j is >= drop_threshold (see
/// DropoutParams).
struct AttentionParams {
  LLMTOOL_UINT batch;
  LLMTOOL_UINT tokens;  // queries per batch entry
  LLMTOOL_UINT keys;    // = position0 + tokens
  LLMTOOL_UINT heads;
  LLMTOOL_UINT kv_heads;
  LLMTOOL_UINT head_size;
  LLMTOOL_UINT position0;
  LLMTOOL_UINT q_batch;
  LLMTOOL_UINT q_row;
  LLMTOOL_UINT kv_batch;
  LLMTOOL_UINT kv_row;
  float scale;
  LLMTOOL_UINT drop_threshold;
  float drop_scale;
  LLMTOOL_UINT stream;
  LLMTOOL_UINT sample0;
  LLMTOOL_UINT accumulate;
};

/// dropout (x, StepParams, y): y = keep ? x * scale : 0. Element e of sample s has index
/// (sample0 + s)*per_sample + e (64 bit) =: i; its word is word i%4 of philox(counter {low(i/4), high(i/4),
/// stream, step}, key {dropout_key0, dropout_key1}), step and key from StepParams; kept where word >=
/// threshold. The backward is the same kernel on dy.
struct DropoutParams {
  LLMTOOL_UINT n;
  LLMTOOL_UINT per_sample;
  LLMTOOL_UINT sample0;
  LLMTOOL_UINT stream;
  LLMTOOL_UINT threshold;  // round(p * 2^32)
  float scale;             // 1 / (1 - p)
  LLMTOOL_UINT accumulate;
};

/// cross_entropy (logits, targets, scale, row_loss) over rows of logits (rows, cols): row_loss[r] =
/// s * (logsumexp(logits[r]) - logits[r][target]), 0 where the target is ignore_index, s the one float of
/// `scale`. With write_grad the logits are overwritten by s * (softmax - onehot), zero rows where ignored.
struct CrossEntropyParams {
  LLMTOOL_UINT rows;
  LLMTOOL_UINT cols;
  LLMTOOL_INT ignore_index;
  LLMTOOL_UINT write_grad;
};

/// grad_norm_partial (gradients, partials): adds up the squares of n floats in `groups` fixed parts, each in
/// double or compensated; part p goes to partials[2*(first + p)] and [.. + 1] as a sum of two floats (high,
/// low). Part p covers elements [p*ceil(n/groups), (p+1)*ceil(n/groups)).
struct GradNormPartialParams {
  LLMTOOL_UINT n;
  LLMTOOL_UINT groups;
  LLMTOOL_UINT first;
};

/// grad_norm_finish (partials, StepParams, StepStats): the ordered sum of `count` partials; writes
/// StepStats.grad_norm, clip_scale = 1, or grad_clip / (norm + 1e-6) where grad_clip > 0 and that is below 1,
/// and non_finite (then clip_scale = 0). Reads StepStats.loss.
struct GradNormFinishParams {
  LLMTOOL_UINT count;
};

/// adamw (p, gradients, m, v, StepParams, StepStats): g = grad * clip_scale; m = beta1 m + (1 - beta1) g;
/// v = beta2 v + (1 - beta2) g^2;
/// p -= lr * weight_decay * p for the first n_decay elements; p -= lr * (m c1) / (sqrt(v c2) + eps).
/// (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.) Nothing changes where non_finite.
/// sgd (p, gradients, buf, StepParams, StepStats): g = grad * clip_scale + weight_decay * p (first n_decay);
/// buf = momentum * buf + g; p -= lr * buf (p -= lr * g without buf). Nothing changes where non_finite.
struct OptimizerParams {
  LLMTOOL_UINT n;
  LLMTOOL_UINT n_decay;
  float weight_decay;
  float beta1;  // sgd: momentum
  float beta2;
  float eps;
};

/// Vulkan only: what a dispatch is told beside the parameters, at byte 96 of its push constants. shift: for
/// argument i, byte i: elements between the offset a buffer is bound at and the view. present: bit i:
/// argument i was given. window: which part of a launch this is, where a launch is cut because a view is
/// larger than a device can bind; each shader that can be cut so says what it means there.
struct Placement {
  LLMTOOL_UINT shift[2];
  LLMTOOL_UINT present;
  LLMTOOL_UINT reserved;
  LLMTOOL_UINT window[4];
};

#ifdef __cplusplus
}  // namespace llmtool
#endif
#undef LLMTOOL_UINT
#undef LLMTOOL_INT
#endif
