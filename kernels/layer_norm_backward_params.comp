#version 450
// layer_norm_backward_params: dgain = sum over rows of dy (x - mean) s, dbias = sum of dy (NormParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS NormParams
#include "launch.glsl"

READS(0, float, x);
READS(1, float, stats);
READS(2, float, dy);
UPDATES(3, float, dgain);
UPDATES(4, float, dbias);

#define NORMALISED(r, c) (AT(0, x, (r) * p.cols + (c)) - AT(1, stats, 2u * (r))) * AT(1, stats, 2u * (r) + 1u)
#define BIAS(o, value) \
  if (PRESENT(4)) AT(4, dbias, o) = p.accumulate != 0u ? AT(4, dbias, o) + (value) : (value)
#include "norm_params.glsl"
