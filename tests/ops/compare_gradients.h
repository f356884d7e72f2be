// Values and gradients of one graph on a device, held against the reference device. Not here: which graphs
// (gradient_cases.cpp), which devices.
#pragma once
#include "support.h"

namespace llmtool::test {

/// Fails the test unless the loss of `c` agrees within 1e-4, and every gradient g with the reference's within
/// |g - ref| <= 2e-5 |ref| + 1e-7 max|ref|.
void require_reference_gradients(Device& device, const Case& c);

}  // namespace llmtool::test
