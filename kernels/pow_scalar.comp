#version 450
// pow_scalar: y = x^a (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) power(x, p.a)
#include "unary.glsl"
