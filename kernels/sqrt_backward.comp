#version 450
// sqrt_backward: dx = dy / (2 y) (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) quotient(0.5, s)
#include "unary_backward.glsl"
