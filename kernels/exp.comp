#version 450
// exp: y = e^x (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) exp_of(x)
#include "unary.glsl"
