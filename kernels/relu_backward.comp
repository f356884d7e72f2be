#version 450
// relu_backward: dx = dy where x > 0, else 0 (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) ((s) > 0.0 ? 1.0 : 0.0)
#include "unary_backward.glsl"
