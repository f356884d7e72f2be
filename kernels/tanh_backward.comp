#version 450
// tanh_backward: dx = dy (1 - y^2) (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) fma(-(s), s, 1.0)
#include "unary_backward.glsl"
