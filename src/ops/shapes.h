// The legend of shapes used by every operation, and the rules shared by several. Not here: any operation.
//
//   B batch   T time (tokens in a window)   C channels (n_embd)   H heads   D head size (C / H)   V
//   vocabulary G key/value heads   N any number of rows   ... any leading dimensions
//
// Errors read "[matmul] inner sizes differ: a (2,8,64), b (100,32)" and are request_errors.
#pragma once
#include <string>

#include "tensor/tensor.h"

namespace llmtool::ops {

/// The shape two operands broadcast to (NumPy's rule); request_error naming op and both shapes.
Shape broadcast(const char* op, const Shape& a, const Shape& b);

}  // namespace llmtool::ops
