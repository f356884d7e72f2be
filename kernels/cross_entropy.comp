#version 450
// cross_entropy: row_loss = s (ln(sum of e^logit) - logit of the target), 0 where the target is ignored; with
// write_grad the logits become s (softmax - onehot) (CrossEntropyParams). A group a row.
#extension GL_GOOGLE_include_directive : require
#define PARAMS CrossEntropyParams
#include "launch.glsl"
#include "math.glsl"
#include "reduce.glsl"

UPDATES(0, float, logits);
READS(1, int, targets);
READS(2, float, scale);
WRITES(3, float, row_loss);

void main() {
  const float s = AT(2, scale, 0u);
  FOR_ROWS(r) {
    const uint row = r * p.cols;
    const int target = AT(1, targets, r);
    const bool ignored = target == p.ignore_index;
    const float chosen = ignored ? 0.0 : AT(0, logits, row + uint(target));
    float largest = lowest;
    FOR_COLUMNS(c) largest = max(largest, AT(0, logits, row + c));
    largest = reduce_max(largest);  // its barriers also keep `chosen` from the writes below
    float sum = 0.0;
    FOR_COLUMNS(c) {
      const float e = exp_of(AT(0, logits, row + c) - largest);
      if (p.write_grad != 0u) AT(0, logits, row + c) = e;  // so that it is computed once
      sum += e;
    }
    sum = reduce_sum(sum);
    if (gl_LocalInvocationID.x == 0u) {
      AT(3, row_loss, r) = ignored ? 0.0 : s * (log_of(sum) - (chosen - largest));
    }
    if (p.write_grad != 0u) {
      const float factor = quotient(s, sum);
      FOR_COLUMNS(c) {
        float value = AT(0, logits, row + c) * factor;
        if (int(c) == target) value -= s;
        AT(0, logits, row + c) = ignored ? 0.0 : value;
      }
    }
  }
}
