// Reverse-mode differentiation. An operation computes its result and calls record() with the inputs and a
// function that, given the result's gradient, sends gradients to the inputs. Backward walks the nodes from
// the newest to the oldest (an input is always older than what was made of it), without recursion, and
// destroys them without recursion.
//
//   Tensor exp(const Tensor& x) {
//     Tensor y = Tensor::empty(x.device(), x.shape());
//     launch<KernelId::exp>(x.device(), {x.view(), y.view()}, {...});
//     return record("exp", y, {x}, [y = Saved(y)](Backward& b) {
//       if (auto dx = b.target(0)) launch<KernelId::exp_backward>(..., {y.get().view(), b.grad().view(),
//       dx.view()}, {..., dx.accumulate});
//     });
//   }
//
// Not here: any operation.
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace llmtool {

class Backward;
using BackwardFunction = std::function<void(Backward&)>;

struct GradMeta {
  GradMeta(Device& d, Shape s) : device(&d), shape(s) {}
  Device* device;
  Shape shape;
  std::shared_ptr<Node> node;  ///< Null for a leaf.
  Tensor grad;
  /// The gradient's memory belongs to this tensor alone, so it may be added to in place.
  bool owns_grad = false;
};

/// One operation that was recorded.
class Node {
 public:
  Node(const char* op, std::vector<std::shared_ptr<GradMeta>> inputs, BackwardFunction backward);
  ~Node();  ///< Frees the chain behind it without recursion.
  const char* op() const noexcept { return op_; }
  std::uint64_t sequence() const noexcept { return sequence_; }

 private:
  friend class Backward;
  friend void run_backward(const Tensor& root, const Tensor& grad);
  friend Tensor record(const char*, Tensor, std::span<const Tensor>, BackwardFunction, bool);
  const char* op_;
  std::uint64_t sequence_;
  std::vector<std::shared_ptr<GradMeta>> inputs_;
  BackwardFunction backward_;
  bool root_only_ = false;
  bool used_ = false;
  bool seen_ = false;  // while run_backward() collects the graph
};

/// Where an input's gradient goes: memory, and whether it is added to or overwritten. False: nobody wants it.
struct GradTarget {
  Tensor into;
  std::uint32_t accumulate = 0;
  explicit operator bool() const noexcept { return into.defined(); }
  View view() const { return into.view(); }
};

/// What an operation's backward function is given.
class Backward {
 public:
  /// Gradient of the result, in its shape.
  const Tensor& grad() const noexcept { return grad_; }
  bool wants(int input) const noexcept;
  /// Memory for input i's gradient: fresh memory to overwrite, or what earlier uses gave, to add to. Each
  /// call is one contribution, which must be written.
  GradTarget target(int input);
  /// Input i's gradient is `grad`, unchanged (reshape, add): shared, not copied, where nothing was there
  /// before.
  void pass(int input, const Tensor& grad);
  Device& device() const { return grad_.device(); }

 private:
  friend void run_backward(const Tensor& root, const Tensor& grad);
  Backward(Node& node, Tensor grad) : node_(node), grad_(std::move(grad)) {}
  Node& node_;
  Tensor grad_;
};

/// A value kept for the backward; get() is an error naming `op` if it was changed in place meanwhile.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& tensor) : tensor_(tensor.detach()), version_(tensor.version()) {}
  bool defined() const noexcept { return tensor_.defined(); }
  const Tensor& get() const;

 private:
  Tensor tensor_;
  std::uint64_t version_ = 0;
};

/// Puts `result` into the graph as made from `inputs` by `op`; returns it untouched under NoGrad or where no
/// input requires a gradient. `root_only`: the result may only be the root of backward() (head_loss).
/// Undefined inputs are allowed and never want a gradient.
Tensor record(const char* op, Tensor result, std::span<const Tensor> inputs, BackwardFunction backward,
              bool root_only = false);
inline Tensor record(const char* op, Tensor result, std::initializer_list<Tensor> inputs,
                     BackwardFunction backward, bool root_only = false) {
  return record(op, std::move(result), std::span<const Tensor>(inputs.begin(), inputs.size()),
                std::move(backward), root_only);
}
/// True where record() would record: gradients are on and one of the inputs requires one.
bool will_record(std::initializer_list<Tensor> inputs) noexcept;

/// Inside, nothing is recorded or kept. Nests.
class NoGrad {
 public:
  NoGrad() noexcept;
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled() noexcept;

/// Backward::target() for an operation that makes a leaf's gradient during its forward (head_loss).
GradTarget leaf_target(const Tensor& leaf);

/// Tensor::backward(), from any tensor: `grad` is the gradient of what is differentiated with respect to
/// `root`, in its shape. May be called from an operation's backward function, on a graph that function has
/// made. Nothing is done where `root` has no graph.
void run_backward(const Tensor& root, const Tensor& grad);

/// request_error naming both devices unless all defined tensors live on one device.
Device& common_device(const char* op, std::initializer_list<Tensor> tensors);

}  // namespace llmtool
