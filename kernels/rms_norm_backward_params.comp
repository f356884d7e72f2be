#version 450
// rms_norm_backward_params: dgain = sum over rows of dy x s (NormParams).
#extension GL_GOOGLE_include_directive : require
#define PARAMS NormParams
#include "launch.glsl"

READS(0, float, x);
READS(1, float, stats);
READS(2, float, dy);
UPDATES(3, float, dgain);

#define NORMALISED(r, c) AT(0, x, (r) * p.cols + (c)) * AT(1, stats, r)
#define BIAS(o, value)
#include "norm_params.glsl"
