#version 450
// silu_backward: dx = dy s (1 + x (1 - s)), s = 1 / (1 + e^-x) (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) silu_slope(s)
#include "unary_backward.glsl"
