#version 450
// silu: y = x / (1 + e^-x) (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) silu_of(x)
#include "unary.glsl"
