#version 450
// sqrt: y = the square root of x (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) root(x)
#include "unary.glsl"
