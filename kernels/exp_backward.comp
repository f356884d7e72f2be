#version 450
// exp_backward: dx = dy y (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) (s)
#include "unary_backward.glsl"
