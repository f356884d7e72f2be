#version 450
// gelu_exact_backward: dx = dy times the slope of the erf form of GELU at x (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) gelu_exact_slope(s)
#include "unary_backward.glsl"
