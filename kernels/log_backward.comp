#version 450
// log_backward: dx = dy / x (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) quotient(1.0, s)
#include "unary_backward.glsl"
