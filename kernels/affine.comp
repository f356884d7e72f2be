#version 450
// affine: y = a x + b (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) (p.a * (x) + p.b)
#include "unary.glsl"
