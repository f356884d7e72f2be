// The graph and its traversal; see autograd.h.
#include "tensor/autograd.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"

namespace llmtool {
namespace {

thread_local bool grad_is_enabled = true;
/// Operation whose backward function is running, for messages.
thread_local const char* running_op = "backward";

std::uint64_t next_sequence() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// Memory for one more contribution to the gradient of `meta`.
GradTarget place(GradMeta& meta) {
  if (!meta.grad.defined()) {
    meta.grad = Tensor::empty(*meta.device, meta.shape);
    meta.owns_grad = true;
    return {meta.grad, 0};
  }
  if (!meta.owns_grad) {
    // Shared by pass(). Once nobody else holds it, it is this tensor's own.
    if (meta.grad.storage().use_count() > 1) {
      Tensor own = Tensor::empty(*meta.device, meta.shape);
      meta.device->copy(meta.grad.view(), own.view());
      meta.grad = std::move(own);
    }
    meta.owns_grad = true;
  }
  return {meta.grad, 1};
}

void add_to(const Tensor& grad, const GradTarget& target) {
  if (target.accumulate == 0) {
    target.into.device().copy(grad.view(), target.view());
    return;
  }
  launch<KernelId::affine>(target.into.device(), {grad.view(), target.view()},
                           {static_cast<std::uint32_t>(grad.numel()), 1.0F, 0.0F, 1});
}

}  // namespace

Node::Node(const char* op, std::vector<std::shared_ptr<GradMeta>> inputs, BackwardFunction backward)
    : op_(op), sequence_(next_sequence()), inputs_(std::move(inputs)), backward_(std::move(backward)) {}

Node::~Node() {
  // What only this node holds is taken apart on a list: a chain of nodes must not become a chain of calls.
  std::vector<std::shared_ptr<GradMeta>> doomed = std::move(inputs_);
  while (!doomed.empty()) {
    const std::shared_ptr<GradMeta> meta = std::move(doomed.back());
    doomed.pop_back();
    if (!meta || meta.use_count() > 1 || !meta->node) continue;
    const std::shared_ptr<Node> node = std::move(meta->node);
    if (node.use_count() > 1) continue;
    std::move(node->inputs_.begin(), node->inputs_.end(), std::back_inserter(doomed));
    node->inputs_.clear();
  }
}

bool Backward::wants(int input) const noexcept {
  return static_cast<std::size_t>(input) < node_.inputs_.size() &&
         node_.inputs_[static_cast<std::size_t>(input)];
}

GradTarget Backward::target(int input) {
  if (!wants(input)) return {};
  return place(*node_.inputs_[static_cast<std::size_t>(input)]);
}

void Backward::pass(int input, const Tensor& grad) {
  if (!wants(input)) return;
  GradMeta& meta = *node_.inputs_[static_cast<std::size_t>(input)];
  LLMTOOL_CHECK(grad.shape() == meta.shape && grad.dtype() == DType::f32, "[", node_.op_,
                "] gradient of input ", input, " is ", name_of(grad.dtype()), " ", grad.shape().str(),
                ", not f32 ", meta.shape.str());
  // A leaf's gradient outlives the graph and is zeroed in place, so it never shares.
  if (meta.grad.defined() || !meta.node) {
    add_to(grad, place(meta));
    return;
  }
  meta.grad = grad.detach();
  meta.owns_grad = false;
}

const Tensor& Saved::get() const {
  if (tensor_.version() != version_) {
    throw request_error(
        cat("[", running_op, "] a tensor its backward needs was changed in place after the forward pass"));
  }
  return tensor_;
}

Tensor record(const char* op, Tensor result, std::span<const Tensor> inputs, BackwardFunction backward,
              bool root_only) {
  std::vector<std::shared_ptr<GradMeta>> metas;
  metas.reserve(inputs.size());
  bool any = false;
  for (const Tensor& input : inputs) {
    metas.push_back(input.meta());
    if (!input.meta()) continue;
    any = true;
    const Node* const node = input.meta()->node.get();
    if (node != nullptr && node->root_only_ && grad_is_enabled) {
      throw request_error(cat("[", op, "] the result of ", node->op_, " can only be the root of backward()"));
    }
  }
  if (!any || !grad_is_enabled) return result;
  LLMTOOL_CHECK(result.dtype() == DType::f32, "[", op, "] result of ", name_of(result.dtype()));
  auto meta = std::make_shared<GradMeta>(result.device(), result.shape());
  meta->node = std::make_shared<Node>(op, std::move(metas), std::move(backward));
  meta->node->root_only_ = root_only;
  result.set_meta(std::move(meta));
  return result;
}

bool will_record(std::initializer_list<Tensor> inputs) noexcept {
  return grad_is_enabled &&
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.requires_grad(); });
}

NoGrad::NoGrad() noexcept : before_(std::exchange(grad_is_enabled, false)) {}
NoGrad::~NoGrad() { grad_is_enabled = before_; }
bool grad_enabled() noexcept { return grad_is_enabled; }

GradTarget leaf_target(const Tensor& leaf) {
  LLMTOOL_CHECK(leaf.requires_grad() && !leaf.meta()->node, "leaf_target of a tensor that is no leaf");
  return place(*leaf.meta());
}

void run_backward(const Tensor& root, const Tensor& seed) {
  LLMTOOL_CHECK(seed.shape() == root.shape() && seed.dtype() == DType::f32, "[backward] gradient ",
                seed.shape().str(), " of a root ", root.shape().str());
  if (!root.requires_grad() || !root.meta()->node) return;
  // Every result behind the root, each once, found without recursion; then newest first, which is a
  // topological order. Nothing is computed before the whole graph is known to be fresh.
  std::vector<std::shared_ptr<GradMeta>> results{root.meta()};
  root.meta()->node->seen_ = true;
  bool used = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Node& node = *results[i]->node;
    used = used || node.used_;
    for (const std::shared_ptr<GradMeta>& input : node.inputs_) {
      if (!input || !input->node || input->node->seen_) continue;
      input->node->seen_ = true;
      results.push_back(input);
    }
  }
  for (const auto& meta : results) meta->node->seen_ = false;
  if (used) throw request_error("[backward] this graph was used already; run the forward pass again");
  std::ranges::sort(results, std::greater{}, [](const auto& meta) { return meta->node->sequence(); });

  const char* const outer_op = running_op;
  root.meta()->grad = seed.detach();
  root.meta()->owns_grad = false;
  for (std::shared_ptr<GradMeta>& meta : results) {
    Node& node = *meta->node;
    const Tensor grad = std::exchange(meta->grad, Tensor());
    meta->owns_grad = false;
    if (grad.defined()) {
      running_op = node.op_;
      Backward backward(node, grad);
      node.backward_(backward);
    }
    node.used_ = true;
    node.backward_ = nullptr;
    node.inputs_.clear();  // the list still holds what lies behind: nothing is taken apart in depth
    meta.reset();
  }
  running_op = outer_op;
}

Device& common_device(const char* op, std::initializer_list<Tensor> tensors) {
  Device* device = nullptr;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    if (device == nullptr) device = &tensor.device();
    if (device != &tensor.device()) {
      throw request_error(
          cat("[", op, "] operands on two devices: ", device->name(), " and ", tensor.device().name()));
    }
  }
  LLMTOOL_CHECK(device != nullptr, "[", op, "] every operand is undefined");
  return *device;
}

}  // namespace llmtool
