// Recomputation as one operation of the graph; see recompute.h.
#include "tensor/recompute.h"

#include <utility>

#include "tensor/autograd.h"

namespace llmtool {

Tensor recomputed(const char* op, const Tensor& x, std::function<Tensor(const Tensor& x)> f) {
  if (!will_record({x})) return f(x);
  Tensor y;
  {
    const NoGrad no_grad;
    y = f(x.detach());
  }
  return record(op, std::move(y), {x}, [x = Saved(x), f = std::move(f)](Backward& b) {
    Tensor leaf = x.get().detach();
    leaf.set_requires_grad();
    run_backward(f(leaf), b.grad());
    const Tensor grad = leaf.grad();
    if (grad.defined()) b.pass(0, grad);
  });
}

}  // namespace llmtool
