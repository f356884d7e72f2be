#version 450
// gelu_exact: y = 0.5 x (1 + erf(x / sqrt 2)) (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) gelu_exact(x)
#include "unary.glsl"
