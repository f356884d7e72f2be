#version 450
// tanh: y = tanh x (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) tanh_of(x)
#include "unary.glsl"
